// Reads the data of the page: JSON, compressed with gzip, in base64, in a script element that browsers do not run.

import type { Page } from './model';

export async function embedded(): Promise<Page> {
  const text = document.getElementById('data')?.textContent?.trim();
  if (!text) throw new Error('the page holds no data');
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).json()) as Page;
}
