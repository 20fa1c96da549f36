// Colours of series: those of Okabe and Ito, which colour-blind people can distinguish, with their brightness adjusted
// for contrast with the page. The dashes of lines differ, too.

const LIGHT = ['#0b5fa5', '#b84300', '#00755a', '#8f3f78', '#6b5b00', '#1f6f8b', '#7a1f1f', '#44505c'];
const DARK = ['#6bb7f2', '#f0975a', '#43c9a4', '#dd9bc7', '#d8c45a', '#8fd3e8', '#f0908f', '#b9c4ce'];
const DASHES: number[][] = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 4], [3, 3]];

export function isDark(): boolean {
  // Paper is white.
  if (document.documentElement.classList.contains('printing')) return false;
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function line(index: number): { color: string; dash: number[] } {
  const palette = isDark() ? DARK : LIGHT;
  return { color: palette[index % palette.length]!, dash: DASHES[index % DASHES.length]! };
}

export function fade(color: string, alpha: number): string {
  return color + Math.round(alpha * 255).toString(16).padStart(2, '0');
}

export function ink(): { text: string; grid: string; mark: string; shade: string } {
  return isDark()
    ? { text: '#b9c4ce', grid: '#2c3640', mark: '#f0975a', shade: '#ffffff12' }
    : { text: '#44505c', grid: '#e3e7eb', mark: '#b84300', shade: '#0000000d' };
}
