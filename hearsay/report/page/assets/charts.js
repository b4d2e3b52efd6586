'use strict';
// Drawing functions: curves, a scatter plot, bars. Each takes a canvas and data and returns a
// Chart; page.js decides what and when. Colours come from the page's style, so light and dark mode
// share the code.
globalThis.hearsayCharts = (() => {
  const shapes = ['circle', 'circle', 'triangle', 'rect', 'rectRot', 'crossRot', 'star', 'cross'];
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const few = 40;     // up to so many points of a curve get a mark each
  const dense = 400;  // more points than this are drawn thin

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (number) => style(`--c${number}`);
  const fade = (hex, alpha) => hex.slice(0, 7) + Math.round(255 * alpha).toString(16).padStart(2, '0');

  // As C++'s human_bytes: "812 B", "16.3 kB", "1.08 MB".
  const human_bytes = (bytes) => {
    const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
    let unit = 0;
    for (; bytes >= 999.5 && unit + 1 < units.length; ++unit) bytes /= 1000;
    return `${unit === 0 ? Math.round(bytes) : Number(bytes.toPrecision(3))} ${units[unit]}`;
  };
  // As C++'s human_joules: "3.2 mJ".
  const human_joules = (joules) => {
    const units = ['J', 'mJ', 'uJ', 'nJ'];
    let unit = 0;
    for (; joules > 0 && joules < 0.9995 && unit + 1 < units.length; ++unit) joules *= 1000;
    return `${Number(joules.toPrecision(3))} ${units[unit]}`;
  };
  const human_count = (count) => human_bytes(count).replace(/ ?B$/, '');
  const short = (value) => {
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e');
    return String(Number(value.toPrecision(4)));
  };
  const whole = (value) => (Number.isInteger(value) ? value.toLocaleString('en-US') : short(value));

  // 1, 2 and 5 of each decade while there are few decades; then decades, and finally every second,
  // third, ... Where fewer than three of them lie within the axis: all nine digits, or on a short axis
  // equal steps.
  const log_ticks = (low, high) => {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    const decades = Math.log10(high / low);
    const step = Math.max(1, Math.ceil(decades / 8));
    const of = (digits) => {
      const ticks = [];
      for (let power = from; power <= to; power += step) {
        for (const digit of digits) {
          const value = Number(`${digit}e${power}`);
          if (value >= low && value <= high) ticks.push({value});
        }
      }
      return ticks;
    };
    const ticks = of(decades <= 2.5 ? [1, 2, 5] : [1]);
    if (ticks.length > 2) return ticks;
    if (high > 4 * low) return of([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const digit = 10 ** Math.floor(Math.log10((high - low) / 3)), steps = [];
    const apart = digit * ([5, 2].find((factor) => factor * digit <= (high - low) / 3) || 1);
    for (let k = Math.ceil(low / apart); k * apart <= high; ++k) steps.push({value: Number((k * apart).toPrecision(12))});
    return steps;
  };

  // Those ticks of a logarithmic axis of so many pixels whose labels do not touch: decades before twos
  // and fives, and these before others.
  const apart_ticks = (ticks, low, high, pixels, least) => {
    const rank = ({value}) => ({1: 0, 2: 1, 5: 1})[value.toExponential()[0]] ?? 2;
    const at = ({value}) => pixels * Math.log(value / low) / Math.log(high / low);
    const kept = [];
    for (const tick of [...ticks].sort((a, b) => rank(a) - rank(b))) {
      if (kept.every((other) => Math.abs(at(other) - at(tick)) >= least)) kept.push(tick);
    }
    return kept.sort((a, b) => a.value - b.value);
  };

  const with_log = (title) => (title.endsWith(')') ? title.replace(/\)$/, ', log)') : `${title} (log)`);

  const scale = (title, log, format) => ({
    type: log ? 'logarithmic' : 'linear',
    title: {display: title !== '', text: title, color: style('--soft'), font: {size: 12}},
    border: {color: style('--line')},
    grid: {color: style('--grid'), borderColor: style('--line'), tickColor: 'transparent'},
    ticks: {color: style('--soft'), font: {size: 12}, maxRotation: 0, autoSkipPadding: 12,
            callback: (value) => format(value), includeBounds: false},
    afterBuildTicks: (axis) => {
      const [pixels, least] = axis.isHorizontal() ? [axis.maxWidth, 56] : [axis.maxHeight, 18];
      const wanted = log && axis.min > 0 ?
          apart_ticks(log_ticks(axis.min, axis.max), axis.min, axis.max, pixels, least) : [];
      const inside = (tick) => tick.value >= axis.min && tick.value <= axis.max;
      axis.ticks = wanted.length > 1 ? wanted : axis.ticks.filter(inside);
      if (log || axis.ticks.length < 3) return;
      // The end of the data is a tick too, which may be too close to the previous one.
      const at = (k) => axis.ticks.at(k).value;
      if (at(-1) - at(-2) < 0.8 * (at(-2) - at(-3))) axis.ticks.pop();
    },
  });

  const hover = globalThis.hearsayHover;
  // The nearest of points or bars: what it is called, and its value.
  const tooltip = (title, value) => hover.tooltip(
      (items) => title(items[0]),
      (items) => items.slice(0, 8).map((item) => ({set: item.dataset, name: item.dataset.label, value: value(item)})));

  const base = (type, scales, tips) => ({
    type,
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, scales,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},
      plugins: {legend: {display: false}, tooltip: tips},
    },
    data: {datasets: []},
  });

  const axes = {
    round: {title: 'Rounds', log: false, format: whole, word: (x) => `round ${whole(x)}`},
    bytes: {title: 'Bytes sent by all peers (B, log)', log: true, format: human_bytes, word: human_bytes},
    simulated: {title: 'Simulated time (s)', log: false, format: short, word: (x) => `${short(x)} s, simulated`},
  };

  // Larger numbers, which no sane run has, would stretch the axis without bound: they are gaps.
  const drawable = (value) => typeof value === 'number' && Math.abs(value) < 1e100;

  // The points of a series on an axis; points that the axis cannot show are omitted. `start` marks
  // what was evaluated before the first round.
  const points = (series, record, axis, log) => {
    const x = record[axis], out = [];
    if (!x) return out;
    for (let k = 0; k < series.rows.length; ++k) {
      const at = x[series.rows[k]], y = series.y[k];
      if (!drawable(at) || (axes[axis].log && !(at > 0)) || (log && y !== null && !(y > 0))) continue;
      out.push({x: at, y: drawable(y) ? y : NaN});
      if (record.round[series.rows[k]] === 0) out[out.length - 1].start = true;
    }
    return out;
  };

  // The vertical axis shows all of the visible curves, but what was evaluated before the first round
  // only where it takes little of the room: at chance, a metric may be far from all that counts.
  const fit = (chart, log) => {
    let all = null, later = null;
    const widen = (range, y) => (range ? [Math.min(range[0], y), Math.max(range[1], y)] : [y, y]);
    chart.data.datasets.forEach((set, k) => {
      if (!chart.isDatasetVisible(k)) return;
      for (const {y, start} of set.data) {
        if (Number.isNaN(y)) continue;
        all = widen(all, y);
        if (!start) later = widen(later, y);
      }
    });
    const scale = chart.options.scales.y;
    delete scale.min;
    delete scale.max;
    if (!all) return;
    const few = later && later[1] > later[0] && all[1] - all[0] > 1.25 * (later[1] - later[0]);
    const [low, high] = few && !log ? later : all;
    const pad = log ? 1.15 : 0.04 * (high - low) || 0.05 * Math.abs(high) || 1;
    // What cannot be negative, or above 100 %, has no axis that says so.
    const bound = (y, least, most) => Math.min(Math.max(y, low >= 0 ? least : -Infinity), most);
    const most = chart.options.scales.y.title.text.includes('(%') && high <= 100 ? 100 : Infinity;
    [scale.min, scale.max] = log ? [low / pad, high * pad] : [bound(low - pad, 0, most), bound(high + pad, 0, most)];
  };

  // Marks along curves that have too many points for a mark each, at other places for each curve.
  const marks_along = {
    id: 'marks_along',
    afterDatasetDraw(chart, {index, meta}) {
      const set = chart.data.datasets[index];
      if (!set.marked || meta.data.length < 2) return;
      const {ctx, chartArea: {left, right, top, bottom}} = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, right - left, bottom - top);
      ctx.clip();
      ctx.fillStyle = set.backgroundColor;
      ctx.strokeStyle = set.borderColor;
      for (const {x, y} of places_along(chart, index)) {
        Chart.helpers.drawPoint(ctx, {pointStyle: set.pointStyle, radius: 3.4, borderWidth: 1.2}, x, y);
      }
      ctx.restore();
    },
  };
  const places_along = (chart, index) => {
    const {chartArea: {left, right}} = chart, {data} = chart.getDatasetMeta(index);
    const apart = Math.max(60, (right - left) / 8), places = [];
    for (let x = left + apart * ((0.5 + 0.381966 * index) % 1); x < right; x += apart) {
      const at = hover.nearest(data, x);
      if (at >= 0 && Math.abs(data[at].x - x) < apart / 2) places.push({x: data[at].x, y: data[at].y});
    }
    return places;
  };

  // Fades all curves but those of one name; null: none.
  const dim = (chart, name) => {
    for (const set of chart.data.datasets) {
      const faded = name !== null && set.label !== name ? 0.15 : 1;
      set.borderColor = faded < 1 ? fade(set.ink, faded) : set.ink;
      set.backgroundColor = fade(set.ink, faded * (set.band ? 0.18 : 1));
    }
    chart.update('none');
  };

  const dataset = (series, data) => {
    const ink = colour(series.colour), band = series.look === 'band', strong = series.look === 'strong';
    const width = (strong ? 2.6 : 1.6) * (data.length > dense ? 0.6 : 1);
    return {
      label: series.name, data, ink, band, borderColor: ink, order: strong ? 0 : band ? 2 : 1,
      backgroundColor: band ? fade(ink, 0.18) : ink, fill: band && series.first ? '+1' : false,
      borderWidth: band ? 0 : width, borderDash: dashes[series.dash] || [], borderJoinStyle: 'round',
      pointStyle: shapes[series.mark], pointHitRadius: 8, pointHoverRadius: band ? 0 : 4,
      pointRadius: band || data.length > few ? 0 : strong ? 2 : 2.6, pointBorderWidth: 1.2,
      marked: !band && data.length > few && series.colour > 0,
    };
  };

  // chart: {y, log, series}; its curves against `axis`.
  const lines = (canvas, chart, records, axis) => {
    const is_bytes = chart.y.includes('(B');
    const format = is_bytes ? human_bytes : short;
    const config = base('line', {
      x: {
        ...scale(axes[axis].title, axes[axis].log, axes[axis].format),
        bounds: 'data',
        min: axes[axis].log ? undefined : 0,
      },
      y: scale(chart.log ? with_log(chart.y) : chart.y, chart.log, format),
    }, hover.tooltip((items) => axes[axis].word(items[0].parsed.x), (items) => readout(items, axes[axis], format)));
    config.options.interaction = {mode: 'each_curve', intersect: false};
    config.plugins = [hover.cross(style), marks_along];
    config.data.datasets = chart.series.map(
        (series) => dataset(series, points(series, records[series.record], axis, chart.log)));
    const drawn = new Chart(canvas, config);
    fit(drawn, chart.log);
    drawn.update('none');
    return drawn;
  };

  // A row per curve, the highest first; the two ends of a band are one, and behind the value of a
  // curve of that name. Curves whose nearest evaluation is elsewhere say where.
  const readout = (items, axis, format) => {
    const rows = [], bands = new Map();
    const place = items[0].parsed.x;
    for (const item of items) {
      const {x, y} = item.parsed, set = item.dataset;
      const elsewhere = Math.abs(x - place) > 1e-9 * Math.abs(place) ? ` at ${axis.format(x)}` : '';
      const row = {set, name: set.label, y, value: format(y) + elsewhere};
      const other = set.band && bands.get(set.label);
      if (other) {
        other.value = [other.y, y].sort((a, b) => a - b).map(format).join(' to ') + elsewhere;
        other.y = Math.max(other.y, y);
        continue;
      }
      if (set.band) bands.set(set.label, row);
      rows.push(row);
    }
    for (const [name, band] of bands) {
      const line = rows.find((row) => row.name === name && row !== band);
      if (!line) continue;
      line.value += ` (${band.value})`;
      rows.splice(rows.indexOf(band), 1);
    }
    rows.sort((a, b) => b.y - a.y);
    const most = matchMedia('(max-width: 40rem)').matches ? 14 : 64;
    return rows.slice(0, most);
  };

  // The standard deviation over seeds as a line.
  const ranges = {
    id: 'ranges',
    afterDatasetsDraw(chart) {
      const {ctx} = chart;
      ctx.save();
      chart.data.datasets.forEach((set, s) => set.data.forEach((point, k) => {
        const at = chart.getDatasetMeta(s).data[k];
        if (!at || !chart.isDatasetVisible(s)) return;
        if (point.low < point.high) {
          const along = set.across ? chart.scales.x : chart.scales.y;
          const [low, high] = [along.getPixelForValue(point.low), along.getPixelForValue(point.high)];
          ctx.strokeStyle = set.borderColor;
          ctx.lineWidth = 1.5;
          ctx.beginPath();
          ctx.moveTo(set.across ? low : at.x, set.across ? at.y : low);
          ctx.lineTo(set.across ? high : at.x, set.across ? at.y : high);
          ctx.stroke();
        }
      }));
      ctx.restore();
    },
  };

  // Points of the k-th figure: ours are filled, the paper's are hollow.
  const filled = (k, set) => ({
    borderColor: colour(1 + k % 7), backgroundColor: colour(1 + k % 7), pointStyle: shapes[1 + k % 4],
    pointRadius: 5.5, pointHoverRadius: 7.5, pointBorderWidth: 2, ...set,
  });
  const hollow = (k, set) => ({
    ...filled(k, set), backgroundColor: 'transparent', pointBackgroundColor: 'transparent', pointRadius: 7,
  });

  const scatter = (canvas, data) => {
    const config = base('scatter', {
      x: scale('Compression factor (times fewer bytes, log)', true, (x) => `${short(x)}x`),
      y: scale(data.y, data.log, short),
    }, tooltip((item) => item.raw.name, (item) => `${short(item.parsed.y)} at ${short(item.parsed.x)}x`));
    config.options.interaction = {mode: 'nearest', axis: 'xy', intersect: true};
    config.plugins = [ranges, globalThis.hearsayLabels.plugin(style)];
    const on_front = new Set(data.fronts.flatMap((front) => front.points.map((i) => data.points[i])));
    const usable = (point) => drawable(point.x) && drawable(point.y) && point.x > 0 && (!data.log || point.y > 0);
    const factors = [...data.points, ...data.printed].filter(usable).map((point) => point.x);
    Object.assign(config.options.scales.x, {min: Math.min(...factors) / 1.25, max: Math.max(...factors) * 1.25});
    const figures = [...new Set([...data.points, ...data.printed].map((point) => point.figure))];
    const of = (points, figure) => points.filter((point) => point.figure === figure && usable(point))
        .map((point) => ({...point, front: on_front.has(point)}));
    const sets = [];
    figures.forEach((figure, k) => {
      const [name, ours, printed] = [figure || 'runs', of(data.points, figure), of(data.printed, figure)];
      if (ours.length) sets.push(filled(k, {label: name, named: true, data: ours}));
      if (printed.length) sets.push(hollow(k, {label: `printed: ${name}`, data: printed}));
    });
    // Results on other data have their own front.
    data.fronts.forEach((front) => sets.push({
      label: data.fronts.length > 1 ? `Pareto front, ${front.task}` : 'Pareto front of ours',
      type: 'line', data: front.points.map((i) => data.points[i]).filter(usable),
      stepped: 'after', borderColor: style('--soft'), borderDash: [5, 4], borderWidth: 1.4,
      pointRadius: 0, pointHitRadius: 0,
    }));
    config.data.datasets = sets;
    return new Chart(canvas, config);
  };

  // Rows below each other: ours filled with their deviation over seeds, the paper's hollow.
  const dots = (canvas, plot) => {
    const cut = (row) => (row.length > 28 ? `${row.slice(0, 27)}\u2026` : row);
    const config = base('scatter', {
      x: scale(plot.x, plot.log, short),
      y: {
        ...scale('', false, (at) => cut(plot.rows[at] ?? '')),
        reverse: true, min: -0.5, max: plot.rows.length - 0.5,
        afterBuildTicks: (axis) => { axis.ticks = plot.rows.map((_, value) => ({value})); },
      },
    }, tooltip((item) => plot.rows[item.raw.y], (item) => short(item.parsed.x)));
    config.options.scales.y.ticks.autoSkip = false;
    config.options.interaction = {mode: 'nearest', axis: 'xy', intersect: true};
    config.plugins = [ranges];
    const place = (dots_of) => dots_of.filter((dot) => drawable(dot.x)).map((dot) => ({...dot, y: dot.row}));
    config.data.datasets = plot.series.flatMap((series, k) => [
      filled(k, {label: series.name, across: true, data: place(series.ours)}),
      hollow(k, {label: `printed: ${series.name}`, data: place(series.printed)}),
    ]).filter((set) => set.data.length > 0);
    canvas.parentElement.style.height = `${90 + 30 * plot.rows.length}px`;
    return new Chart(canvas, config);
  };

  // Bars side by side, or stacked: sets of {label, values}, one value per label.
  const bars = (canvas, {labels: names, y, sets, format}) => {
    const config = base('bar', {
      x: {...scale('', false, (index) => names[index].split(', ')), type: 'category', stacked: true},
      y: {...scale(y, false, format), stacked: true, beginAtZero: true},
    }, hover.tooltip((items) => items[0].label, (items) => items.map(
        (item) => ({set: item.dataset, name: item.dataset.label, value: format(item.parsed.y)}))));
    config.options.interaction = {mode: 'index', intersect: false};
    config.options.parsing = true;
    config.options.scales.x.ticks.autoSkip = false;
    config.data = {labels: names, datasets: sets.map((set, k) => ({
      label: set.label, data: set.values, backgroundColor: colour(k + 1), maxBarThickness: 64,
    }))};
    return new Chart(canvas, config);
  };

  // A mark around (0, 0), as Chart.js draws it on a canvas.
  const marks = {
    circle: 'M3 0A3 3 0 1 1 -3 0A3 3 0 1 1 3 0Z', triangle: 'M0 -3.4L3 2.2H-3Z', rect: 'M-2.6 -2.6H2.6V2.6H-2.6Z',
    rectRot: 'M0 -3.4L3.4 0L0 3.4L-3.4 0Z', crossRot: 'M-3 -3L3 3M3 -3L-3 3', cross: 'M-3.4 0H3.4M0 -3.4V3.4',
    star: 'M-3.4 0H3.4M0 -3.4V3.4M-2.4 -2.4L2.4 2.4M2.4 -2.4L-2.4 2.4',
  };

  // A legend entry: a piece of the curve with its mark, or a point.
  const swatch = (set) => {
    const draw = (name, attributes) => {
      const node = document.createElementNS('http://www.w3.org/2000/svg', name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      return node;
    };
    const mark = (size, width) => draw('path', {
      d: marks[set.pointStyle], transform: `translate(16 6) scale(${size})`, fill: set.backgroundColor,
      stroke: set.borderColor, 'stroke-width': width,
    });
    const svg = draw('svg', {viewBox: '0 0 32 12', 'aria-hidden': 'true'});
    if (set.fill || set.pointRadius === undefined) {
      svg.append(draw('rect', {x: 1, y: 1, width: 30, height: 10, fill: set.backgroundColor}));
    } else if (set.type !== 'line' && set.borderWidth === undefined) {
      svg.append(mark(1.4, 1.4));
    } else {
      svg.append(draw('line', {x1: 1, y1: 6, x2: 31, y2: 6, stroke: set.borderColor, 'stroke-width': set.borderWidth,
                               'stroke-dasharray': (set.borderDash || []).join(' ')}));
      if (set.pointRadius > 0 || set.marked) svg.append(mark(1, 1.2));
    }
    return svg;
  };

  return {axes, bars, dataset, dim, dots, fit, human_bytes, human_count, human_joules, lines, log_ticks, marks, places_along, points, scatter, short,
          style, swatch, whole};
})();
