// Sources beside their code: part of report.js, which includes it. A line under the mouse or with the
// keyboard's focus marks its instructions, an instruction its line. Arrow keys go from row to row of one
// side, Enter goes to the first row of the other.

  // ---- sources ---------------------------------------------------------------------------------------

  function prepare_pair(pair) {
    const rows = all('tr[data-line]', pair);
    const side_of = (row) => row.closest('.codes') === null;  // true: the source's
    const open = (row) => row.closest('details').open;
    const lines = new Map();
    for (const row of rows) {
      const line = lines.get(row.dataset.line) ?? { source: null, code: [] };
      if (side_of(row)) line.source = row; else line.code.push(row);
      lines.set(row.dataset.line, line);
    }
    const linked = (row) => {
      const { source, code } = lines.get(row.dataset.line);
      return source !== null && code.length > 0;
    };
    let marked = [];
    function mark(row, scroll) {
      for (const old of marked) old.classList.remove('linked');
      marked = [];
      if (!row || !linked(row)) return;
      const { source, code } = lines.get(row.dataset.line);
      marked = [source, ...code];
      for (const one of marked) one.classList.add('linked');
      if (scroll) show_in_box(side_of(row) ? code.find(open) : source);
    }
    /** Only the box of the other side moves, never the page. */
    function show_in_box(row) {
      if (!row) return;
      const box = row.closest('.table');
      const at = row.getBoundingClientRect(), frame = box.getBoundingClientRect();
      if (at.top < frame.top || at.bottom > frame.bottom) box.scrollTop += at.top - frame.top - box.clientHeight / 3;
    }
    function focus(row) {
      for (const other of all('tr[tabindex="0"]', row.closest('.table'))) other.tabIndex = -1;
      row.tabIndex = 0;
      row.focus();
    }
    for (const table of all('table', pair)) {
      const own = all('tr[data-line]', table).filter(linked);
      own.forEach((row, i) => {
        row.tabIndex = i === 0 ? 0 : -1;
        row.addEventListener('mouseenter', () => mark(row, false));
        row.addEventListener('mouseleave', () => mark(null));
        row.addEventListener('focus', () => {
          mark(row, true);
          const { code } = lines.get(row.dataset.line);
          document.getElementById('spoken').textContent = side_of(row)
            ? `Line ${row.dataset.line}: ${code.filter(open).length} instructions beside it.`
            : `Of line ${row.dataset.line}.`;
        });
        row.addEventListener('blur', () => mark(null));
        row.addEventListener('keydown', (event) => {
          const to = { ArrowDown: own[i + 1], ArrowUp: own[i - 1], Home: own[0], End: own.at(-1) };
          const { source, code } = lines.get(row.dataset.line);
          to.Enter = side_of(row) ? code.find(open) : source;
          if (!(event.key in to)) return;
          event.preventDefault();
          if (to[event.key]) focus(to[event.key]);
        });
      });
    }
  }
