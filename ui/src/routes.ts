// The pages within one file. The fragment of the address selects the displayed page.

import { el, replace } from './dom';
import { onLanguage, say, word } from './language';
import type { Page, RunPage } from './model';
import { comparison } from './pages/comparison';
import { errors } from './pages/errors';
import { findings } from './pages/findings';
import { jmeter } from './pages/jmeter';
import { labels } from './pages/labels';
import { Sheet } from './pages/page';
import { about, plan } from './pages/plan';
import { samples } from './pages/samples';
import { charts, connections, generator, overTime, targets } from './pages/time';
import type { Word } from './words/en';

interface Route { id: string; title: Word; show: (sheet: Sheet, argument: string) => void }

/** Returns the pages that have data. The first one, `overview`, is the static first screen. */
export function routes(page: Page): Route[] {
  const all: Route[] = [{ id: 'overview', title: 'overview', show: () => {} }];
  const has = (there: boolean, id: string, title: Word, show: Route['show']) => { if (there) all.push({ id, title, show }); };
  const verdict = (sheet: Sheet) => {
    if (!('verdict' in page)) return;
    findings(sheet, page.verdict, (id) => title(page, id));
  };
  switch (page.kind) {
    case 'run':
      has(page.timeline.at_ms.length > 0, 'time', 'over_time', (sheet) => overTime(sheet, page));
      has(page.labels.length > 0, 'labels', 'labels', (sheet, argument) => labels(sheet, page, argument));
      has(true, 'errors', 'errors', (sheet) => errors(sheet, page));
      has(page.samples.length > 0, 'samples', 'samples', (sheet) => samples(sheet, page));
      has(charts(page, 'generator').length > 0, 'generator', 'generator', (sheet) => generator(sheet, page));
      has(charts(page, 'targets').length > 0, 'targets', 'targets', (sheet) => targets(sheet, page));
      has(charts(page, 'connections').length > 0 || page.classes.length > 0, 'connections', 'connections', (sheet) => connections(sheet, page));
      has(true, 'plan', 'plan', (sheet) => plan(sheet, page));
      has(page.jmeter !== null, 'jmeter', 'jmeter', (sheet) => { if (page.jmeter) jmeter(sheet, page.jmeter); });
      has(true, 'findings', 'findings', verdict);
      break;
    case 'sweep':
    case 'capacity':
      has(true, 'plan', 'plan', (sheet) => about(sheet, page.about));
      has(true, 'findings', 'findings', verdict);
      break;
    case 'comparison':
      has(true, 'change', 'change', (sheet) => comparison(sheet, page));
      has(true, 'a', 'run_a', (sheet) => about(sheet, page.a));
      has(true, 'b', 'run_b', (sheet) => about(sheet, page.b));
      break;
  }
  return all;
}

function title(page: Page, id: string): string | null {
  const found = page.kind === 'run' ? page.timeline.charts.find((chart) => chart.id === id) : undefined;
  return found ? say(found.title) : null;
}

/** Returns the id of the page that contains a chart. */
function pageOf(page: RunPage, chart: string): string {
  const where = page.timeline.charts.find((one) => one.id === chart)?.page ?? 'time';
  return where === 'overview' ? 'time' : where;
}

interface Shown { redraw: () => void; again: () => void }

/** Shows pages in `into` and links to them in `nav`. `first` is the static first screen. */
export function router(page: Page, nav: HTMLElement, into: HTMLElement, first: HTMLElement | null): Shown {
  let sheet: Sheet | null = null;
  const links = (now: string) => {
    replace(nav, el('ul', null, ...routes(page).map((route) => el('li', null,
      el('a', { attr: { href: `#${route.id}`, 'aria-current': route.id === now ? 'page' : null } }, word(route.title))))));
    nav.setAttribute('aria-label', word('pages'));
  };
  const show = () => {
    const [id, argument, anchor] = place(page);
    const route = routes(page).find((one) => one.id === id) ?? routes(page)[0]!;
    sheet?.destroy();
    replace(into);
    if (first) first.hidden = route.id !== 'overview';
    into.hidden = route.id === 'overview';
    sheet = new Sheet(into);
    if (route.id !== 'overview') {
      sheet.add(el('h1', null, word(route.title)));
      route.show(sheet, argument);
    }
    links(route.id);
    const at = anchor ? document.getElementById(anchor) : null;
    if (at) at.scrollIntoView();
  };
  addEventListener('hashchange', () => { show(); if (!location.hash.startsWith('#chart/')) scrollTo(0, 0); });
  onLanguage(show);
  show();
  return { redraw: () => sheet?.redraw(), again: show };
}

function place(page: Page): [string, string, string | null] {
  const text = decodeURIComponent(location.hash.slice(1)) || 'overview';
  const slash = text.indexOf('/');
  const [id, argument] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  if (id === 'chart' && page.kind === 'run') return [pageOf(page, argument), '', `chart-${argument}`];
  if (id === 'finding') return ['findings', '', `finding-${argument}`];
  return [id, argument, null];
}
