// The timeline: part of report.js, which includes it. Activities come compressed (reports/trace/payload.h) and lie in
// lines, in each of which none overlaps another. A pixel shows all that lies in it, so that a million of them take as
// long to draw as a thousand.

  // ---- timeline ----------------------------------------------------------------------------------------

  const timelines = [];
  const line_height = 14, label_height = 17, axis_height = 24;

  async function unpacked(base64) {
    const text = atob(base64);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** The head, and the lines as sorted arrays of starts, ends and names. */
  function read_activities(bytes) {
    let at = 0;
    const next = () => {
      let byte = bytes[at++], number = byte & 127, factor = 128;
      while (byte > 127) { byte = bytes[at++]; number += (byte & 127) * factor; factor *= 128; }
      return number;
    };
    const length = next();
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(at, at + length)));
    at += length;
    const lines = [];
    for (const row of head.rows) {
      for (let i = 0; i < row.lines; i += 1) {
        const count = next();
        const line = { row, starts: new Float64Array(count), ends: new Float64Array(count), names: new Uint32Array(count) };
        let start = 0;  // since head.begin
        for (let k = 0; k < count; k += 1) line.starts[k] = start += next();
        for (let k = 0; k < count; k += 1) line.ends[k] = line.starts[k] + next();
        for (let k = 0; k < count; k += 1) line.names[k] = next();
        lines.push(line);
      }
    }
    return { ...head, lines, span: Math.max(1, head.end - head.begin) };
  }

  /** The first place in sorted `values` whose value is greater than `limit`. */
  function first_after(values, limit, from = 0) {
    let low = from, high = values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[middle] > limit) high = middle; else low = middle + 1;
    }
    return low;
  }

  const known_pixels = new Map();
  /** A colour as a pixel of an image has it: red in the lowest byte. */
  function pixel_of(text) {
    if (known_pixels.has(text)) return known_pixels.get(text);
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [pixel] = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer);
    known_pixels.set(text, pixel);
    return pixel;
  }

  function duration_text(ns) {
    const magnitude = Math.abs(ns);
    for (const [least, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']]) {
      if (magnitude >= least) return `${Number((ns / least).toPrecision(6)).toLocaleString('en', { maximumFractionDigits: 6 })} ${unit}`;
    }
    return `${Math.round(ns)} ns`;
  }

  class Timeline {
    constructor(figure, data) {
      Object.assign(this, { figure, data, from: 0, to: data.span, found: null, wanted: false });
      this.place_lines();
      this.make_elements();
      this.draw();
    }

    /** The top of each line and label, in pixels. */
    place_lines() {
      let y = axis_height, group = '', row = null;
      this.labels = [];
      for (const line of this.data.lines) {
        if (line.row.group !== group) {
          ({ group } = line.row);
          this.labels.push({ y, text: group, strong: true });
          y += label_height;
        }
        if (line.row !== row) {
          ({ row } = line);
          this.labels.push({ y, text: row.name });
          y += label_height;
        }
        line.y = y;
        y += line_height;
      }
      this.height = Math.min(y + 6, 16000);
    }

    make_elements() {
      this.canvas = make('canvas', { tabIndex: 0, role: 'img' });
      this.canvas.setAttribute('aria-label', `${this.figure.querySelector('figcaption').textContent.trim()} ` +
        'Left and right pan, + and - zoom, Home shows all, comma and full stop go from activity to activity, up and down from line to line.');
      this.frame = make('div', { className: 'timeline-frame' }, this.canvas);
      this.search = make('input', { type: 'search', autocomplete: 'off', spellcheck: false });
      this.status = make('span', { className: 'found', role: 'status' });
      const button = (text, label, act) => {
        const made = make('button', { type: 'button', textContent: text });
        made.setAttribute('aria-label', label);
        made.addEventListener('click', act);
        return made;
      };
      this.figure.append(make('div', { className: 'rows' }, make('label', {}, 'Find ', this.search),
        button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)),
        button('all', 'Show all', () => this.show(0, this.data.span)), this.status), this.frame);
      this.search.addEventListener('input', () => this.find());
      this.search.addEventListener('keydown', (event) => { if (event.key === 'Enter') this.next_found(event.shiftKey); });
      this.canvas.addEventListener('keydown', (event) => this.key(event));
      this.canvas.addEventListener('blur', () => { hover.hidden = true; });
      this.canvas.addEventListener('wheel', (event) => {
        if (event.ctrlKey || event.shiftKey) event.preventDefault();
        if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time_at(event.offsetX));
        else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / this.width);
      }, { passive: false });
      this.canvas.addEventListener('pointerdown', (event) => {
        this.canvas.setPointerCapture(event.pointerId);
        this.drag = event.offsetX;
      });
      this.canvas.addEventListener('pointermove', (event) => {
        if (this.drag === undefined) return this.hover_at(event);
        this.pan((this.drag - event.offsetX) / this.width);
        this.drag = event.offsetX;
      });
      for (const name of ['pointerup', 'pointercancel']) this.canvas.addEventListener(name, () => { this.drag = undefined; });
      this.canvas.addEventListener('pointerleave', () => { hover.hidden = true; });
      this.canvas.addEventListener('dblclick', (event) => {
        const hit = this.hit(event.offsetX, event.offsetY);
        if (hit) this.show_activity(hit.line, hit.index);
      });
      this.frame.addEventListener('scroll', () => this.redraw());
      new ResizeObserver(() => this.redraw()).observe(this.frame);
    }

    time_at(x) { return this.from + x / this.width * (this.to - this.from); }

    show(from, to) {
      const span = Math.min(Math.max(to - from, 20), this.data.span);
      this.from = Math.min(Math.max(0, from), this.data.span - span);
      this.to = this.from + span;
      hover.hidden = true;
      this.redraw();
    }
    zoom(factor, around = (this.from + this.to) / 2) {
      const span = Math.min(Math.max((this.to - this.from) * factor, 20), this.data.span);
      const share = (around - this.from) / (this.to - this.from);
      this.show(around - share * span, around + (1 - share) * span);
    }
    pan(share) {
      const span = this.to - this.from;
      const from = Math.min(Math.max(0, this.from + share * span), this.data.span - span);
      this.show(from, from + span);
    }

    // ---- finding

    find() {
      const words = words_of(this.search);
      this.found = null;
      let count = 0;
      if (words.length) {
        const is_found = this.data.names.map(([name]) => words.every((word) => name.toLowerCase().includes(word)));
        this.found = this.data.lines.map((line) => {
          const places = [];
          for (let i = 0; i < line.names.length; i += 1) if (is_found[line.names[i]]) places.push(i);
          count += places.length;
          return { ...line, sums: undefined, starts: Float64Array.from(places, (i) => line.starts[i]), ends: Float64Array.from(places, (i) => line.ends[i]),
            names: Uint32Array.from(places, (i) => line.names[i]), places };
        });
      }
      const all_of_them = this.data.lines.reduce((sum, line) => sum + line.names.length, 0);
      this.status.textContent = words.length ? `${count.toLocaleString('en')} of ${all_of_them.toLocaleString('en')} activities; Enter goes to the next` : '';
      this.redraw();
    }

    next_found(backwards) {
      if (!this.found) return;
      const middle = this.at ? this.at.line.starts[this.at.index] : (this.from + this.to) / 2;
      let best = null;
      this.found.forEach((line, i) => {
        const place = backwards ? first_after(line.starts, middle - 0.5) - 1 : first_after(line.starts, middle);
        const start = line.starts[place];
        if (start === undefined || (best && (backwards ? start <= best.start : start >= best.start))) return;
        best = { start, line: this.data.lines[i], index: line.places[place] };
      });
      if (best) this.show_activity(best.line, best.index);
    }

    // ---- one activity: under the mouse, or by the keyboard

    hit(x, y) {
      const line = this.data.lines.find((one) => y >= one.y && y < one.y + line_height);
      if (!line) return null;
      const pixel = (this.to - this.from) / this.width, time = this.time_at(x);
      const index = first_after(line.ends, time - pixel);
      return index < line.starts.length && line.starts[index] <= time + pixel ? { line, index } : null;
    }
    text_of({ line, index }) {
      const [name, kind] = this.data.names[line.names[index]];
      return { name, more: `${kind}, ${duration_text(line.ends[index] - line.starts[index])}, from ${duration_text(line.starts[index] + this.data.begin)}; ${line.row.group}, ${line.row.name}` };
    }
    hover_text(hit, x, y) {
      const { name, more } = this.text_of(hit);
      hover.replaceChildren(make('b', {}, name), more);
      hover.hidden = false;
      const place = (at, size, limit) => Math.max(4, Math.min(at + 14, limit - size - 4));
      hover.style.left = `${place(x, hover.offsetWidth, innerWidth)}px`;
      hover.style.top = `${place(y, hover.offsetHeight, innerHeight)}px`;
    }
    hover_at(event) {
      const hit = this.hit(event.offsetX, event.offsetY);
      if (hit) this.hover_text(hit, event.clientX, event.clientY); else hover.hidden = true;
    }
    show_activity(line, index) {
      this.at = { line, index };
      const middle = (line.starts[index] + line.ends[index]) / 2;
      const wide = Math.max(line.ends[index] - line.starts[index], 1);
      let span = this.to - this.from;
      if (wide > span / 2 || wide < span / 50) span = 8 * wide;
      this.show(middle - span / 2, middle + span / 2);
      this.frame.scrollTop = Math.max(0, line.y - this.frame.clientHeight / 2);
      const box = this.canvas.getBoundingClientRect();
      this.hover_text(this.at, box.left + (middle - this.from) / (this.to - this.from) * this.width, box.top + line.y);
      const { name, more } = this.text_of(this.at);
      document.getElementById('spoken').textContent = `${name}. ${more}`;
    }
    step_activity(by) {
      const line = this.at?.line ?? this.data.lines[0];
      const index = this.at ? this.at.index + by : first_after(line.ends, this.from);
      if (index >= 0 && index < line.starts.length) this.show_activity(line, index);
    }
    step_line(by) {
      const lines = this.data.lines.filter((line) => line.starts.length);
      const at = this.at ? lines.indexOf(this.at.line) + by : 0;
      if (!lines[at]) return;
      const time = (this.from + this.to) / 2;
      this.show_activity(lines[at], Math.min(first_after(lines[at].ends, time), lines[at].starts.length - 1));
    }
    key(event) {
      const act = {
        ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5),
        '-': () => this.zoom(2), Home: () => this.show(0, this.data.span), ',': () => this.step_activity(-1), '.': () => this.step_activity(1),
        ArrowUp: () => this.step_line(-1), ArrowDown: () => this.step_line(1), Escape: () => { hover.hidden = true; },
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    }

    // ---- drawing

    redraw() {
      if (this.wanted) return;
      this.wanted = true;
      requestAnimationFrame(() => { this.wanted = false; this.draw(); });
    }

    draw() {
      const ratio = Math.min(devicePixelRatio || 1, 2);
      this.width = Math.max(50, this.frame.clientWidth);
      if (this.canvas.width !== Math.round(this.width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
        Object.assign(this.canvas, { width: Math.round(this.width * ratio), height: Math.round(this.height * ratio) });
        this.canvas.style.height = `${this.height}px`;
      }
      const context = this.context = this.canvas.getContext('2d');
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.fillStyle = colour('ground');
      context.fillRect(0, 0, this.width, this.height);
      context.font = `11px ${Chart.defaults.font.family}`;
      context.textBaseline = 'middle';
      this.palette = [...Array(series_colours).keys()].map(series_colour);
      this.draw_axis();
      const top = this.frame.scrollTop - 2 * label_height, bottom = this.frame.scrollTop + this.frame.clientHeight;
      const visible = (y) => y >= top && y <= bottom;
      for (const { y, text, strong } of this.labels) {
        if (!visible(y)) continue;
        context.fillStyle = colour(strong ? 'text' : 'quiet');
        context.fillText(text, strong ? 4 : 14, y + label_height / 2);
      }
      const shown = [];
      this.data.lines.forEach((line, i) => {
        if (!visible(line.y)) return;
        shown.push([line, this.found ? 0.25 : 1]);
        if (this.found) shown.push([this.found[i], 1]);
      });
      this.draw_lines(shown);
      if (this.at) this.frame_activity();
    }

    draw_axis() {
      const { context } = this;
      const span = this.to - this.from;
      const step = [1, 2, 5, 10].map((lead) => lead * 10 ** Math.floor(Math.log10(span / 4))).reverse().find((one) => span / one >= Math.max(2, this.width / 220)) ?? span;
      context.strokeStyle = colour('line');
      context.fillStyle = colour('quiet');
      const zero = this.data.begin;
      for (let time = Math.ceil((this.from + zero) / step) * step; time <= this.to + zero; time += step) {
        const x = (time - zero - this.from) / span * this.width;
        context.beginPath();
        context.moveTo(x, axis_height - 4);
        context.lineTo(x, this.height);
        context.stroke();
        context.fillText(duration_text(Math.round(time)), x + 3, axis_height / 2);
      }
    }

    /** Pixels that activities share are written into an image of one row a line, which is stretched: thousands of
     *  rectangles would take a frame's time. */
    draw_lines(shown) {
      if (shown.length === 0) return;
      const { context, width } = this;
      const image = new ImageData(width, shown.length);
      const pixels = new Uint32Array(image.data.buffer);
      const colours = this.palette.map(pixel_of);
      shown.forEach(([line, strength], k) => this.draw_line(line, strength, pixels.subarray(k * width, (k + 1) * width), colours));
      const rows = Object.assign(document.createElement('canvas'), { width, height: shown.length });
      rows.getContext('2d').putImageData(image, 0, 0);
      context.imageSmoothingEnabled = false;
      shown.forEach(([line], k) => context.drawImage(rows, 0, k, width, 1, 0, line.y + 1, width, line_height - 2));
    }

    /** Activities narrower than a pixel share it: the pixel is as strong as the share of it that is busy. */
    draw_line(line, strength, pixels, colours) {
      const { context, width } = this;
      const { starts, ends, names } = line;
      const scale = width / (this.to - this.from);
      let i = first_after(ends, this.from);
      while (i < starts.length && starts[i] <= this.to) {
        const left = (starts[i] - this.from) * scale, right = (ends[i] - this.from) * scale;
        if (right - left >= 1) {
          context.fillStyle = this.palette[names[i] % series_colours];
          context.globalAlpha = strength;
          const x = Math.max(0, left), wide = Math.min(width, right) - x;
          context.fillRect(x, line.y + 1, Math.max(1, wide - 0.5), line_height - 2);
          if (wide > 42) this.write(this.data.names[names[i]][0], x + 3, wide - 6, line.y, strength);
          i += 1;
          continue;
        }
        const pixel = Math.floor(left), next = Math.max(i + 1, first_after(ends, this.from + (pixel + 1) / scale, i));
        const busy = Math.min(1, this.busy(line, i, next) * scale);
        const alpha = Math.round(255 * strength * Math.max(0.3, busy));
        const x = Math.min(width - 1, Math.max(0, pixel));
        if (alpha >= pixels[x] >>> 24) pixels[x] = colours[names[i] % series_colours] & 0xffffff | alpha << 24;
        i = next;
      }
      context.globalAlpha = 1;
    }
    busy(line, from, to) {
      line.sums ??= line.starts.reduce((sums, start, i) => { sums[i + 1] = sums[i] + line.ends[i] - start; return sums; }, new Float64Array(line.starts.length + 1));
      return line.sums[to] - line.sums[from];
    }
    write(text, x, room, y, strength) {
      const { context } = this;
      const most = Math.floor(room / 6.2);
      context.globalAlpha = 1;
      context.fillStyle = colour(strength < 1 ? 'text' : 'ground');
      context.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x, y + line_height / 2 + 0.5);
    }
    frame_activity() {
      const { line, index } = this.at;
      const scale = this.width / (this.to - this.from);
      this.context.strokeStyle = colour('text');
      this.context.strokeRect((line.starts[index] - this.from) * scale, line.y + 0.5, Math.max(2, (line.ends[index] - line.starts[index]) * scale), line_height - 1);
    }
  }

  function prepare_timelines() {
    for (const figure of all('figure.timeline')) {
      const data = figure.querySelector('script');
      unpacked(data.textContent.trim()).then((bytes) => {
        data.remove();
        timelines.push(figure.timeline = new Timeline(figure, read_activities(bytes)));
      }, () => figure.append(make('p', {}, 'This browser cannot unpack the timeline: the table below has its rows.')));
    }
  }
