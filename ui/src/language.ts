// The language of the page: the check box `zh`, which the page has without script, too.

import type { Words } from './model';
import { en, type Word } from './words/en';
import { zh } from './words/zh';

export type Language = 'en' | 'zh';

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

/** A sentence that came with the data. */
export function say(words: Words): string {
  return words[language()];
}

/** A word of the page's own; `{0}` and so on are filled in. */
export function word(key: Word, ...values: (string | number)[]): string {
  const text = (language() === 'zh' ? zh : en)[key];
  return text.replace(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ''));
}
