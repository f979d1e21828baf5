// This script makes the page move: dark mode, sorting, filtering, charts. The page can be read
// without it: the tables are in the HTML, and every chart is drawn from the table of values in its
// figure.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  /** An element with properties and children; texts are text, never markup. */
  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // ---- dark mode: as the system has it, until the button says otherwise ------------------------------

  const prefers_dark = matchMedia('(prefers-color-scheme: dark)');
  const theme_button = document.getElementById('theme');
  const stored_theme = () => {
    try { return localStorage.getItem('warpmeter-theme'); } catch { return null; }
  };

  function show_theme(theme) {
    root.dataset.theme = theme;
    theme_button.setAttribute('aria-pressed', theme === 'dark');
    recolour_charts();
  }

  theme_button.addEventListener('click', () => {
    const theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('warpmeter-theme', theme); } catch { /* not kept, then */ }
    show_theme(theme);
  });
  const wanted_theme = () => stored_theme() ?? (prefers_dark.matches ? 'dark' : 'light');
  prefers_dark.addEventListener('change', () => show_theme(wanted_theme()));

  // ---- sorting: a button in each heading; values that are missing stay last --------------------------

  const in_order = new Intl.Collator(undefined, { numeric: true }).compare;

  function compare_cells(a, b) {
    const x = a.dataset.v, y = b.dataset.v;
    if (x !== undefined && y !== undefined) return Number(x) - Number(y);
    return in_order(a.textContent, b.textContent);
  }

  function sort(table, column, heading) {
    const numeric = heading.classList.contains('n');
    const current = heading.getAttribute('aria-sort');
    // Numbers begin with the largest, names with A.
    const order = current === null ? (numeric ? 'descending' : 'ascending')
      : current === 'descending' ? 'ascending' : 'descending';
    for (const other of all('thead th', table)) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', order);
    const sign = order === 'ascending' ? 1 : -1;
    const missing = (row) => 'missing' in row.cells[column].dataset;
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      return sign * compare_cells(a.cells[column], b.cells[column]);
    }));
  }

  function make_sortable(table) {
    if (table.tBodies[0].rows.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make('button', { type: 'button' }, ...heading.childNodes);
      button.addEventListener('click', () => sort(table, column, heading));
      heading.append(button);
    });
  }

  // ---- filtering: all words must be in the row, or in the table's caption ----------------------------

  const long_table = 10;  // rows from which on a table has a filter of its own
  const page_filter = document.getElementById('filter');
  const filtered = [];  // for each table: how to apply the filters, and how many rows there are
  const words_of = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);

  function make_filterable(table) {
    const box = table.parentElement;
    const body = table.tBodies[0];
    const caption = table.caption.textContent.toLowerCase();
    const text = new Map([...body.rows].map((row) => [row, row.textContent.toLowerCase()]));
    let own = null, found = null;
    if (body.rows.length >= long_table) {
      own = make('input', { type: 'search', autocomplete: 'off', spellcheck: false });
      found = make('span', { className: 'found', role: 'status' });
      own.addEventListener('input', apply);
      box.before(make('div', { className: 'rows' }, make('label', {}, 'Filter these rows ', own), found));
    }
    function apply() {
      const page_words = words_of(page_filter), own_words = own ? words_of(own) : [];
      let shown = 0;
      for (const row of body.rows) {
        const cells = text.get(row);
        row.hidden = !(page_words.every((word) => cells.includes(word) || caption.includes(word)) &&
          own_words.every((word) => cells.includes(word)));
        shown += !row.hidden;
      }
      if (found) found.textContent = own_words.length ? `${shown} of ${text.size} rows` : '';
      return shown;
    }
    filtered.push({ box, apply, rows: text.size });
  }

  function filter_page() {
    const active = page_filter.value.trim() !== '';
    let shown = 0, rows = 0;
    for (const table of filtered) {
      const count = table.apply();
      table.box.hidden = active && count === 0;
      shown += count;
      rows += table.rows;
    }
    document.getElementById('found').textContent = active ? `${shown} of ${rows} rows` : '';
    hide_empty_parts();
  }

  /** A heading whose tables are all hidden says nothing. */
  function hide_empty_parts() {
    for (const heading of all('main h3')) {
      const tables = [];
      for (let next = heading.nextElementSibling; next && !/^H[1-3]$/.test(next.tagName); next = next.nextElementSibling) {
        if (next.classList.contains('table')) tables.push(next);
      }
      heading.hidden = tables.length > 0 && tables.every((table) => table.hidden);
    }
  }

  // ---- source text: in its row where 40 characters of it have room there, else below -----------------

  const with_source = all('main table').filter((table) => table.querySelector('thead .source'));

  function place_source(table, on_paper) {
    const box = table.parentElement;
    if (!on_paper && box.clientWidth === 0) return;  // a filter hides it
    table.classList.remove('below');
    if (!on_paper && box.scrollWidth <= box.clientWidth) return;
    table.style.setProperty('--columns', table.tHead.rows[0].cells.length - 1);
    table.classList.add('below');
  }

  function place_sources(on_paper) {
    for (const table of with_source) place_source(table, on_paper);
  }

  //@include charts.js

  //@include timeline.js

  //@include listing.js

  // ---- begin -----------------------------------------------------------------------------------------

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  document.getElementById('bar').hidden = false;
  all('table:not(.heat)').forEach(make_sortable);
  all('main table').filter((table) => table.caption && !table.closest('figure')).forEach(make_filterable);
  page_filter.addEventListener('input', filter_page);
  place_sources(false);
  addEventListener('resize', () => place_sources(false));
  prepare_charts();
  prepare_timelines();
  all('.pair').forEach(prepare_pair);
  show_theme(wanted_theme());
})();
