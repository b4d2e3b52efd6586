'use strict';
// The page: reads its data, makes charts as they come near the viewport, and redraws them when the
// reader chooses another axis, switches to dark mode or prints. `hearsay.append` is for live.js.
globalThis.hearsay = (() => {
  const {hearsayCharts: draw, hearsaySave: save, hearsayZoom: zoom} = globalThis;
  const data = JSON.parse(document.getElementById('data').textContent);
  const shown = new Map();  // by id of the figure: {figure, chart?, hidden, make, update?}
  let axis = 'round';

  for (const chart of data.charts) {
    chart.series.forEach((series, k) => {
      const before = chart.series[k - 1];
      series.rows = series.rows || series.y.map((_, row) => row);
      series.first = series.look === 'band' && !(before && before.look === 'band');
    });
  }

  // ---- One figure ----
  const axis_of = (chart) => chart.axis || axis;

  // Curves of one name (the seeds of a row, the two ends of a band) are one entry. Of many, one button
  // shows or hides all; an entry that is pointed at fades the others.
  const many = 7;
  const write_legend = (item) => {
    const legend = item.figure.querySelector('.legend');
    const sets = item.chart.data.datasets;
    const names = [...new Set(sets.map((set) => set.label))];
    legend.replaceChildren();
    if (names.length < 2) return;
    const shows = [];
    const fit = () => {
      if (item.source && !item.zoom) draw.fit(item.chart, item.source.log);
      item.chart.update('none');
    };
    if (names.length > many) {
      const all = document.createElement('button');
      Object.assign(all, {type: 'button', className: 'all', textContent: 'all / none'});
      all.addEventListener('click', () => {
        item.hidden = new Set(item.hidden.size ? [] : names);
        for (const show of shows) show();
        fit();
      });
      legend.append(all);
    }
    for (const name of names) {
      const button = document.createElement('button');
      button.type = 'button';
      const show = () => {
        button.setAttribute('aria-pressed', String(!item.hidden.has(name)));
        sets.forEach((set, k) => {
          if (set.label === name) item.chart.setDatasetVisibility(k, !item.hidden.has(name));
        });
      };
      button.append(draw.swatch(sets.find((set) => set.label === name)), name);
      button.addEventListener('click', () => {
        if (!item.hidden.delete(name)) item.hidden.add(name);
        show();
        fit();
        point();
      });
      // A finger does not point: nothing would end it.
      let over = false;
      const point = (event) => {
        if (event && event.type.startsWith('pointer')) over = event.type === 'pointerenter' && event.pointerType !== 'touch';
        const meant = (over || button.matches(':focus-visible')) && !item.hidden.has(name);
        if (item.source) draw.dim(item.chart, meant ? name : null);
      };
      for (const event of ['pointerenter', 'pointerleave', 'focus', 'blur']) button.addEventListener(event, point);
      show();
      shows.push(show);
      legend.append(button);
    }
    if (item.hidden.size) fit();
  };

  const count = (n, what) => `${n.toLocaleString('en-US')} ${what}${n === 1 ? '' : 's'}`;

  // Below the chart.
  const say = (item, text) => {
    const note = item.figure.querySelector('.drawn');
    note.textContent = text;
    note.hidden = text === '';
  };

  // A note on what is not drawn.
  const write_note = (item, chart) => {
    const words = [];
    const left_out = (series) => series.left_out || 0;
    const most = chart.series.reduce((a, b) => (left_out(b) > left_out(a) ? b : a), chart.series[0]);
    if (left_out(most) > 0) {
      const drawn = most.y.length;
      words.push(`${drawn.toLocaleString('en-US')} of ${count(drawn + most.left_out, 'evaluation')} drawn; ` +
                 'the lowest and the highest of every stretch are kept.');
    }
    say(item, words.join(' '));
  };

  const build = (item) => {
    if (item.chart) item.chart.destroy();
    item.chart = item.make(item.figure.querySelector('canvas'));
    zoom.apply(item);
    if (item.zoom) item.chart.update('none');
    write_legend(item);
    if (item.after) item.after(item);
  };
  const rebuild_all = () => shown.forEach((item) => item.chart && build(item));

  const watch = 'IntersectionObserver' in globalThis && new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const item = shown.get(entry.target.id);
      if (entry.isIntersecting && !item.chart) build(item);
    }
  }, {rootMargin: '400px'});

  // The buttons of a figure, at its upper right corner.
  const tools_of = (figure) => {
    const tools = document.createElement('div');
    tools.className = 'tools';
    figure.querySelector('figcaption h3').after(tools);
    tools.append(...figure.querySelectorAll('.switch'));
    return tools;
  };
  const name_of = (figure) => figure.id.replace('chart-', '');
  const title_of = (figure) => figure.querySelector('h3').textContent;
  // In the colours of paper.
  const on_paper = (make, again) => {
    const {classList} = document.documentElement;
    classList.add('paper');
    again();
    try {
      return make();
    } finally {
      classList.remove('paper');
      again();
    }
  };

  const add = (id, made) => {
    const figure = document.getElementById(id);
    if (!figure) return;
    const item = {figure, hidden: new Set(), zoom: null, ...made};
    shown.set(id, item);
    const tools = tools_of(figure);
    item.reset = document.createElement('button');
    Object.assign(item.reset, {type: 'button', className: 'tool reset', textContent: 'reset', title: 'Show all of it again', hidden: true});
    tools.prepend(item.reset);
    tools.append(...save.buttons(name_of(figure), () => on_paper(() => save.svg_of(item.chart, title_of(figure)), () => build(item))));
    item.rebuild = () => build(item);
    if (item.zooms) zoom.attach(item);
    if (watch) {
      watch.observe(figure);
    } else {
      build(item);
    }
  };

  for (const chart of data.charts) {
    add(chart.id, {
      source: chart,
      zooms: true,
      make: (canvas) => draw.lines(canvas, chart, data.records, axis_of(chart)),
      after: (item) => write_note(item, chart),
    });
    const button = document.querySelector(`#${CSS.escape(chart.id)} .switch`);
    if (!button) continue;
    const tell = () => button.setAttribute('aria-pressed', String(chart.log));
    button.addEventListener('click', () => {
      chart.log = !chart.log;
      tell();
      shown.get(chart.id).zoom = null;
      build(shown.get(chart.id));
    });
    tell();
  }
  if (data.scatter) {
    add('chart-scatter', {
      zooms: true,
      make: (canvas) => draw.scatter(canvas, data.scatter),
      after: (item) => say(item, data.scatter.note),
    });
  }
  for (const plot of data.dots || []) add(plot.id, {make: (canvas) => draw.dots(canvas, plot)});
  for (const cost of data.costs || []) {
    const labels = cost.devices.map((device) => device.label);
    const set = (label, key) => ({label, values: cost.devices.map((device) => device[key])});
    const bars = (what, y, format, sets) => add(`${cost.id}chart-cost-${what}`, {
      make: (canvas) => draw.bars(canvas, {labels, y, format, sets}),
    });
    bars('memory', 'Memory (B)', draw.human_bytes,
         [set('arrays of the model\'s size', 'model_bytes'), set('activations', 'activation_bytes')]);
    bars('compute', 'Multiply-adds', draw.human_count,
         [set('multiply-adds', 'multiply_adds')]);
    bars('energy', 'Energy (J)', draw.human_joules,
         [set('compute', 'compute'), set('memory', 'memory'), set('radio', 'radio')]);
  }

  for (const figure of document.querySelectorAll('figure:not(.chart)')) {
    const pictures = [...figure.querySelectorAll('svg')].filter((svg) => svg.matches('.graph, .matrix, .histogram'));
    if (pictures.length === 0) continue;
    tools_of(figure).append(...save.buttons(figure.id, () => on_paper(() => save.svg_of_pictures(pictures, title_of(figure)), () => {})));
  }

  // ---- The page ----
  for (const choice of document.querySelectorAll('input[name="axis"]')) {
    choice.addEventListener('change', () => {
      axis = choice.value;
      const hint = document.querySelector('.chooser .hint');
      hint.textContent = axis === 'bytes' ? 'What was evaluated before the first byte is not drawn.' : '';
      shown.forEach((item) => { if (item.source && !item.source.axis) item.zoom = null; });
      rebuild_all();
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', rebuild_all);

  // In print: all charts, also those not made yet, dark on white, as wide as a sheet (page.css).
  const print = (on) => {
    document.documentElement.classList.toggle('printing', on);
    shown.forEach((item) => {
      if ((on || item.chart) && item.figure.offsetParent !== null) build(item);
    });
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));

  // ---- Lines that come later ----
  const number = (value) => (typeof value === 'number' ? value : value === null ? null : undefined);
  // As C++'s values_of. undefined: the line has no such value.
  const value_of = (line, series) => {
    if (series.key === 'bytes') {
      const bytes = number(line.bytes_total);
      return typeof bytes === 'number' ? bytes + (line.global_bytes_total || 0) : bytes;
    }
    if (series.key === 'train_loss' && line.round === 0) return undefined;
    if (series.entry < 0) return number(line[series.key]);
    if (series.key === 'push_sum' && !line.push_sum && line.push_sum_min === 1 && line.push_sum_max === 1) return 1;
    return Array.isArray(line[series.key]) ? number(line[series.key][series.entry]) : undefined;
  };

  const formats = {percent: (v) => `${v.toFixed(2)} %`, bytes: draw.human_bytes, number: draw.short, whole: draw.whole};
  let waiting = false;
  const redraw = () => {
    waiting = false;
    shown.forEach((item) => {
      if (!item.chart || !item.source) return;
      item.source.series.forEach((series, k) => {
        Object.assign(item.chart.data.datasets[k], draw.dataset(
            series, draw.points(series, data.records[series.record], axis_of(item.source), item.source.log)));
      });
      if (!item.zoom) draw.fit(item.chart, item.source.log);
      item.chart.update('none');
    });
  };

  // Appends one line of metrics.jsonl, as an object, of the page's first run. Lines that it already
  // has are skipped. Returns how many came after the page was made, or -1 if it was made before the
  // first line and has no charts to add it to.
  let appended = 0;
  const append = (line) => {
    const record = data.records[0];
    if (!record || !record.round || record.round.length === 0) return -1;
    if (typeof line.round !== 'number' || line.round <= record.round[record.round.length - 1]) return appended;
    const row = record.round.push(line.round) - 1;
    record.lines += 1;
    if (record.bytes) record.bytes.push((line.bytes_total || 0) + (line.global_bytes_total || 0));
    if (record.simulated) record.simulated.push(line.simulated_seconds ?? null);
    for (const chart of data.charts) {
      for (const series of chart.series) {
        const value = series.record === 0 ? value_of(line, series) : undefined;
        if (value === undefined) continue;
        series.rows.push(row);
        series.y.push(value);
      }
    }
    for (const tile of document.querySelectorAll('[data-key]')) {
      const value = value_of(line, {key: tile.dataset.key, entry: -1});
      if (typeof value === 'number') tile.textContent = formats[tile.dataset.format](value);
    }
    if (!waiting) requestAnimationFrame(redraw);
    waiting = true;
    return ++appended;
  };

  return {append, data, shown};
})();
