// The language of the page. The check box `zh` selects it, also without script.

import type { Words } from './model';
import { en, type Word } from './words/en';
import { zh } from './words/zh';

type Language = 'en' | 'zh';

const box = (): HTMLInputElement | null => document.querySelector('input#zh');

export function language(): Language {
  return box()?.checked ? 'zh' : 'en';
}

export function onLanguage(changed: () => void): void {
  const tell = () => {
    document.documentElement.lang = language() === 'zh' ? 'zh-CN' : 'en';
    changed();
  };
  document.documentElement.lang = language() === 'zh' ? 'zh-CN' : 'en';
  box()?.addEventListener('change', tell);
}

/** Returns a text of the data in the page's language. */
export function say(words: Words): string {
  return words[language()];
}

/** Returns the text of an element that Rust has written in both languages, in the page's language. */
export function shownText(of: Element): string {
  const one = of.querySelector(`[lang="${language()}"]`);
  return (one ?? of).textContent ?? '';
}

/** Returns a text of the page itself in the page's language. The values replace `{0}`, `{1}` and so on. */
export function word(key: Word, ...values: (string | number)[]): string {
  const text = (language() === 'zh' ? zh : en)[key];
  return text.replace(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ''));
}
