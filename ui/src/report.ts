// The report: the pages below the first screen. Rust has written the first screen, which does not need this script.

import 'uplot/dist/uPlot.min.css';
import './style/report.css';
import { chrome } from './chrome';
import { embedded } from './data';
import { el, replace } from './dom';
import { word } from './language';
import { firstTables } from './parts/first';
import { router } from './routes';

async function start(): Promise<void> {
  const nav = document.getElementById('nav');
  const pages = document.getElementById('pages');
  if (!nav || !pages) return;
  try {
    const page = await embedded();
    const first = document.getElementById('first');
    const shown = router(page, nav, pages, first);
    if (first) firstTables(page, first);
    chrome(() => shown.redraw());
  } catch (error) {
    replace(pages, el('p', { class: 'note' }, word('loading_failed', String(error))));
    pages.hidden = false;
  }
}

void start();
