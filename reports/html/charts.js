// Charts: part of report.js, which includes it. Each is drawn from the table of values in its figure.

  // ---- charts ----------------------------------------------------------------------------------------

  const charts = [];
  const charted = () => all('figure.plot:not([data-form="heat"])');  // a heat map is its own table
  const series_colours = 8;
  const shapes = ['circle', 'rect', 'rectRot', 'triangle'];
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const series_colour = (i) => colour(`s${i % series_colours}`);

  /** 1024 → 1,024; 65536 → 65.5k, as the SVG plots write it. */
  function tick_text(value) {
    const magnitude = Math.abs(value);
    for (const [least, factor, symbol] of [[1e12, 1e12, 'T'], [1e9, 1e9, 'G'], [1e6, 1e6, 'M'], [1e4, 1e3, 'k']]) {
      if (magnitude >= least) return `${Number((value / factor).toPrecision(3))}${symbol}`;
    }
    return Number(value.toPrecision(4)).toLocaleString('en');
  }

  // A part of a stacked bar has a pattern too: the same ones as reports/plot/svg_stack.cpp draws.
  const patterns = ['', 'M-2 2L2-2M-2 10L10-2M6 10L10 6', 'M2 2h1M6 6h1', 'M-2 6L2 10M-2-2L10 10M6-2L10 2', 'M0 4h8', 'M4 0v8', 'M0 4h8M4 0v8', ''];
  function part_fill(i) {
    const lines = patterns[i % series_colours];
    if (!lines) return series_colour(i);
    const tile = make('canvas', { width: 8, height: 8 });
    const pen = tile.getContext('2d');
    pen.fillStyle = series_colour(i);
    pen.fillRect(0, 0, 8, 8);
    Object.assign(pen, { strokeStyle: colour('ground'), globalAlpha: 0.55, lineWidth: 1.5, lineCap: 'round' });
    pen.stroke(new Path2D(lines));
    return pen.createPattern(tile, 'repeat');
  }

  const is_bars = (form) => form === 'bars' || form === 'stack';
  const shown_text = (cell) => cell.textContent.trim();
  /** The value alone, without range and mark. */
  const short_text = (cell) => ('missing' in cell.dataset ? '–' : cell.firstChild.textContent);
  const number = (cell) => (cell.dataset.v === undefined ? null : Number(cell.dataset.v));
  /** Names take less than half of a chart; the value on hover has the whole of them. */
  const shortened = (text, width) => {
    const most = Math.max(12, Math.floor(width * 0.42 / 6.4));
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  };

  /** * The datasets of a figure's table for Chart.js; each point knows its words. */
  function series_of(figure) {
    const table = figure.querySelector('table');
    const headings = [...table.tHead.rows[0].cells].map(shown_text);
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
    const form = figure.dataset.form;
    if (form === 'points') {
      const groups = [...new Set(rows.map((row) => shown_text(row[1])))];
      return groups.map((group) => ({
        label: group,
        data: rows.filter((row) => shown_text(row[1]) === group).map((row) => ({
          x: number(row[2]), y: number(row[3]), title: `${shown_text(row[0])} (${group})`,
          text: `${headings[2]}: ${shown_text(row[2])}, ${headings[3]}: ${shown_text(row[3])}`,
        })),
      }));
    }
    return headings.slice(1).map((label, i) => ({
      label,
      data: rows.filter((row) => is_bars(form) || number(row[i + 1]) !== null).map((row) => {
        const cell = row[i + 1];
        const name = shown_text(row[0]);
        const point = is_bars(form)
          ? { x: number(cell), y: name, title: name, text: `${label}: ${shown_text(cell)}` }
          : { x: number(row[0]), y: number(cell), title: `${label} at ${name}`, text: `${figure.dataset.y}: ${shown_text(cell)}` };
        return { ...point, value: short_text(cell), low: cell.dataset.low, high: cell.dataset.high };
      }),
    }));
  }

  /** Whiskers, values at the ends of bars, the reference line: what Chart.js does not draw by itself. */
  const extras = {
    id: 'extras',
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales, figure } = chart;
      const stack = figure.dataset.form === 'stack', bars = is_bars(figure.dataset.form);
      const scale = bars ? scales.x : scales.y;
      const line = (x1, y1, x2, y2) => { ctx.beginPath(); ctx.moveTo(x1, y1); ctx.lineTo(x2, y2); ctx.stroke(); };
      ctx.save();
      ctx.font = `11px ${Chart.defaults.font.family}`;
      chart.data.datasets.forEach((series, s) => series.data.forEach((point, i) => {
        if (!bars) return;
        if (stack) {
          const part = chart.getDatasetMeta(s).data[i], words = `${Math.round(point.x)}`;
          if (Math.abs(part.x - part.base) < 8 + ctx.measureText(words).width) return;
          Object.assign(ctx, { fillStyle: colour('ground'), strokeStyle: series_colour(s), lineWidth: 4, lineJoin: 'round', textAlign: 'center', textBaseline: 'middle' });
          ctx.strokeText(words, (part.x + part.base) / 2, part.y);
          ctx.fillText(words, (part.x + part.base) / 2, part.y);
          return;
        }
        const bar = chart.getDatasetMeta(s).data[i];
        let end = point.x === null ? area.left : bar.x;
        if (point.low !== undefined) {
          ctx.strokeStyle = colour('text');
          line(scale.getPixelForValue(Number(point.low)), bar.y, scale.getPixelForValue(Number(point.high)), bar.y);
          end = Math.max(end, scale.getPixelForValue(Number(point.high)));
        }
        ctx.fillStyle = colour('quiet');
        ctx.textBaseline = 'middle';
        ctx.fillText(point.value, end + 5, bar.y);
      }));
      ctx.strokeStyle = ctx.fillStyle = colour('reference');
      ctx.lineWidth = 1.5;
      ctx.setLineDash([5, 4]);
      if (figure.dataset.reference !== undefined) {
        const at = scale.getPixelForValue(Number(figure.dataset.reference));
        if (bars) line(at, area.top - 4, at, area.bottom); else line(area.left, at, area.right, at);
        ctx.textAlign = 'right';
        ctx.textBaseline = 'alphabetic';
        const label = figure.dataset.referenceLabel ?? '';
        const end = bars ? at : area.left + 0.3 * (area.right - area.left) + ctx.measureText(label).width / 2;
        ctx.save();  // a seam of the ground's colour, for lines pass behind it
        ctx.strokeStyle = colour('ground');
        ctx.lineWidth = 3;
        ctx.setLineDash([]);
        ctx.strokeText(label, end, bars ? area.top - 8 : at - 5);
        ctx.restore();
        ctx.fillText(label, end, bars ? area.top - 8 : at - 5);
      }
      if ('diagonal' in figure.dataset) {
        const low = Math.max(scales.x.min, scales.y.min), high = Math.min(scales.x.max, scales.y.max);
        if (low < high) {
          line(scales.x.getPixelForValue(low), scales.y.getPixelForValue(low),
            scales.x.getPixelForValue(high), scales.y.getPixelForValue(high));
        }
      }
      ctx.restore();
    },
  };

  /** Powers of ten, with 2 and 5 between them where there is room, and more where there would be one. */
  function log_marks(low, high) {
    const leads = [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]];
    const marks = leads.map((digits) => {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        for (const digit of digits) found.push(digit * 10 ** power);
      }
      return found.filter((mark) => mark >= low && mark <= high);
    });
    return Math.log10(high / low) >= 2.5 ? marks[0] : marks[1].length > 1 ? marks[1] : marks[2];
  }

  /** `range`: the least and the greatest value that a logarithmic axis must leave room for. */
  function axis(label, logarithmic, range, values) {
    const scale = {
      type: logarithmic ? 'logarithmic' : 'linear',
      beginAtZero: !logarithmic,
      title: { display: true, text: label },
      ticks: { callback: tick_text, maxRotation: 0, autoSkipPadding: 12 },
    };
    if (logarithmic) {
      [scale.min, scale.max] = [range[0] / 1.15, range[1] * 1.15];
      // Powers of ten, with 2 and 5 between them where there is room.
      scale.afterBuildTicks = (built) => { built.ticks = log_marks(built.min, built.max).map((value) => ({ value })); };
    }
    if (values) scale.afterBuildTicks = (built) => { built.ticks = values.map((value) => ({ value })); };
    return scale;
  }

  function options_of(figure, series) {
    const { form, x, y, xLog, yLog } = figure.dataset;
    const values = (key) => series.flatMap(({ data }) => data.map((point) => point[key]));
    const range = (key) => [Math.min(...values(key)), Math.max(...values(key))];
    const sizes = [...new Set(values('x'))];
    const stacked = form === 'stack';
    const totals = stacked ? series[0].data.map((_, i) => series.reduce((sum, { data }) => sum + data[i].x, 0)) : [];
    const whole = totals.some((total) => Math.abs(total - 100) < 1e-6) ? 100 : undefined;  // no tick beyond all of it
    const scales = is_bars(form)
      ? { x: { ...axis(x, false), stacked, max: whole, suggestedMax: Number(figure.dataset.reference) }, y: { stacked, grid: { display: false }, ticks: { autoSkip: false, font: { size: 11 }, callback(i) { return shortened(this.getLabelForValue(i), this.chart.width); } } } }
      : {
        x: axis(x, xLog !== undefined, range('x'), form === 'lines' && sizes.length <= 8 && sizes.every(Number.isInteger) ? sizes : null),
        y: axis(y, yLog !== undefined, range('y')),
      };
    const longest = Math.max(0, ...series.flatMap(({ data }) => data.map((point) => (point.value ?? '').length)));
    return {
      indexAxis: is_bars(form) ? 'y' : 'x',
      parsing: is_bars(form) ? { xAxisKey: 'x', yAxisKey: 'y' } : undefined,
      maintainAspectRatio: false,
      animation: false,
      layout: { padding: form === 'bars' ? { right: 10 + 6 * longest, top: figure.dataset.reference ? 18 : 0 } : { right: 8 } },
      interaction: { mode: 'nearest', axis: form === 'bars' ? 'y' : 'xy', intersect: stacked },
      scales,
      plugins: {
        legend: { display: series.length > 1 || form !== 'bars', position: 'top', align: 'start', labels: { usePointStyle: true, boxHeight: 7 } },
        tooltip: { enabled: false, external: ({ chart, tooltip }) => show_hover(chart, tooltip) },
      },
    };
  }

  function height_of(figure, series) {
    const rows = series[0].data.length;
    if (figure.dataset.form === 'stack') return 120 + 20 * Math.ceil(series.length / 2) + rows * 30;
    if (figure.dataset.form !== 'bars') return 300;
    return 64 + (series.length > 1 ? 30 : 0) + (figure.dataset.reference ? 18 : 0) + rows * (series.length * 15 + 12);
  }

  function draw(figure) {
    const canvas = figure.querySelector('canvas');
    const series = series_of(figure);
    canvas.parentElement.style.height = `${height_of(figure, series)}px`;
    const type = { bars: 'bar', stack: 'bar', lines: 'line', points: 'scatter' }[figure.dataset.form];
    const styled = series.map((one, i) => ({
      ...one,
      order: figure.dataset.form === 'stack' ? i : -i, pointStyle: shapes[i % shapes.length], pointRadius: 4.5, pointHoverRadius: 6, borderWidth: type === 'line' ? 2 : 0,
      borderDash: type === 'line' ? dashes[i % dashes.length] : [], barPercentage: 0.92, categoryPercentage: 0.8, maxBarThickness: 22,
    }));
    const labels = type === 'bar' ? series[0].data.map((point) => point.y) : undefined;
    const config = { type, data: { labels, datasets: styled }, options: options_of(figure, series), plugins: [{ id: 'figure', beforeInit(chart) { chart.figure = figure; } }, extras] };
    // Rows of one name are different bars: they are told apart by their place, not their name.
    if (type === 'bar') for (const one of styled) one.data.forEach((point, i) => { point.y = i; });
    const chart = new Chart(canvas, config);
    charts.push(chart);
    canvas.addEventListener('keydown', (event) => step(chart, event));
    canvas.addEventListener('blur', () => hide_hover(chart));
    colour_chart(chart);
    chart.update();
  }

  function colour_chart(chart) {
    const is_stack = chart.figure.dataset.form === 'stack';
    chart.data.datasets.forEach((series, i) => {
      series.borderColor = series_colour(i);
      series.backgroundColor = is_stack ? part_fill(i) : series_colour(i);
      if (is_stack) series.pointStyle = 'rect';
    });
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = colour('quiet');
      scale.grid = { ...scale.grid, color: colour('line'), borderColor: colour('strong-line') };
      if (scale.title) scale.title.color = colour('text');
    }
    chart.options.plugins.legend.labels.color = colour('text');
  }

  function recolour_charts() {
    for (const chart of charts) {
      colour_chart(chart);
      chart.update();
    }
    for (const timeline of timelines) timeline.draw();
  }

  // Values on hover, and the same by the arrow keys: they are shown and spoken.
  const hover = document.getElementById('hover');

  function show_hover(chart, tooltip) {
    const item = tooltip.opacity === 0 ? null : tooltip.dataPoints?.[0];
    if (!item) { hover.hidden = true; return; }
    const point = chart.data.datasets[item.datasetIndex].data[item.dataIndex];
    hover.replaceChildren(make('b', {}, point.title), point.text);
    hover.hidden = false;
    const box = chart.canvas.getBoundingClientRect();
    const place = (at, size, limit) => Math.max(4, Math.min(at + 14, limit - size - 4));
    hover.style.left = `${place(box.left + tooltip.caretX, hover.offsetWidth, innerWidth)}px`;
    hover.style.top = `${place(box.top + tooltip.caretY, hover.offsetHeight, innerHeight)}px`;
  }

  function hide_hover(chart) {
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    chart.update('none');
    hover.hidden = true;
  }

  function step(chart, event) {
    const forward = event.key === 'ArrowRight' || event.key === 'ArrowDown';
    const back = event.key === 'ArrowLeft' || event.key === 'ArrowUp';
    if (event.key === 'Escape') hide_hover(chart);
    if (!forward && !back) return;
    event.preventDefault();
    const points = chart.data.datasets.flatMap((series, datasetIndex) =>
      series.data.map((_, index) => ({ datasetIndex, index })));
    chart.at = ((chart.at ?? (forward ? -1 : 0)) + (forward ? 1 : -1) + points.length) % points.length;
    const active = points[chart.at];
    const { x, y } = chart.getDatasetMeta(active.datasetIndex).data[active.index];
    chart.setActiveElements([active]);
    chart.tooltip.setActiveElements([active], { x, y });
    chart.update('none');
    const point = chart.data.datasets[active.datasetIndex].data[active.index];
    document.getElementById('spoken').textContent = `${point.title}. ${point.text}`;
  }

  /** A chart is drawn when it comes near the window: a long report has many. */
  function prepare_charts() {
    const near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) draw_once(target);
    }, { rootMargin: '600px' });
    for (const figure of charted()) {
      const caption = figure.querySelector('figcaption').textContent.trim();
      const canvas = make('canvas', { tabIndex: 0, role: 'img' });
      canvas.setAttribute('aria-label', `${caption} Chart: the arrow keys go through its values, the table below it holds them.`);
      const box = make('div', { className: 'canvas' }, canvas);
      box.style.height = `${height_of(figure, series_of(figure))}px`;
      figure.querySelector('details').before(box);
      near.observe(figure);
    }
  }

  const drawn = new Set();
  function draw_once(figure) {
    if (drawn.has(figure)) return;
    drawn.add(figure);
    draw(figure);
  }

  // Paper: every chart, in the light colours, sharp.
  addEventListener('beforeprint', () => {
    place_sources(true);
    for (const figure of charted()) draw_once(figure);
    show_theme('light');
    for (const chart of charts) {
      chart.options.devicePixelRatio = 3;
      chart.resize(Math.min(chart.width, 340), chart.height);
    }
  });
  addEventListener('afterprint', () => {
    for (const chart of charts) {
      delete chart.options.devicePixelRatio;
      chart.resize();
    }
    show_theme(wanted_theme());
    place_sources(false);
  });
