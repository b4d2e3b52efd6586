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
  const fade = (hex, alpha) => hex + Math.round(255 * alpha).toString(16).padStart(2, '0');

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
  // third, ... Where fewer than two of them lie within the axis, all nine digits are tried.
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
    return ticks.length > 1 ? ticks : of([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  };

  const scale = (title, log, format) => ({
    type: log ? 'logarithmic' : 'linear',
    title: {display: true, text: title, color: style('--soft'), font: {size: 12}},
    border: {color: style('--line')},
    grid: {color: style('--grid'), borderColor: style('--line'), tickColor: 'transparent'},
    ticks: {color: style('--soft'), font: {size: 12}, maxRotation: 0, autoSkipPadding: 12,
            callback: (value) => format(value)},
    afterBuildTicks: (axis) => {
      const wanted = log && axis.min > 0 ? log_ticks(axis.min, axis.max) : [];
      const inside = (tick) => tick.value >= axis.min && tick.value <= axis.max;
      axis.ticks = wanted.length > 1 ? wanted : axis.ticks.filter(inside);
      if (log || axis.ticks.length < 3) return;
      // The end of the data is a tick too, which may be too close to the previous one.
      const at = (k) => axis.ticks.at(k).value;
      if (at(-1) - at(-2) < 0.8 * (at(-2) - at(-3))) axis.ticks.pop();
    },
  });

  const tooltip = (title, label) => ({
    backgroundColor: style('--card'), titleColor: style('--ink'), bodyColor: style('--ink'),
    borderColor: style('--line'), borderWidth: 1, padding: 10, boxPadding: 4, usePointStyle: true,
    callbacks: {title, label},
  });

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
    round: {title: 'Rounds done (count)', log: false, format: whole, word: (x) => `round ${whole(x)}`},
    bytes: {title: 'Bytes sent by all peers (B, log)', log: true, format: human_bytes, word: human_bytes},
    simulated: {title: 'Simulated time (s)', log: false, format: short, word: (x) => `${short(x)} s, simulated`},
  };

  // Larger numbers, which no sane run has, would stretch the axis without bound: they are gaps.
  const drawable = (value) => typeof value === 'number' && Math.abs(value) < 1e100;

  // The points of a series on an axis; points that the axis cannot show are omitted.
  const points = (series, record, axis, log) => {
    const x = record[axis], out = [];
    if (!x) return out;
    for (let k = 0; k < series.rows.length; ++k) {
      const at = x[series.rows[k]], y = series.y[k];
      if (!drawable(at) || (axes[axis].log && !(at > 0)) || (log && y !== null && !(y > 0))) continue;
      out.push({x: at, y: drawable(y) ? y : NaN});
    }
    return out;
  };

  const dataset = (series, data) => {
    const ink = colour(series.colour), band = series.look === 'band', strong = series.look === 'strong';
    const width = (strong ? 2.6 : 1.6) * (data.length > dense ? 0.6 : 1);
    return {
      // Of the mean of seeds: the tooltip says the mean alone.
      aside: band && /_(low|high)$/.test(series.key),
      label: series.name, data, borderColor: ink, order: strong ? 0 : band ? 2 : 1,
      backgroundColor: band ? fade(ink, 0.18) : ink, fill: band && series.first ? '+1' : false,
      borderWidth: band ? 0 : width, borderDash: dashes[series.dash] || [], borderJoinStyle: 'round',
      pointStyle: shapes[series.colour], pointHitRadius: 8, pointHoverRadius: band ? 0 : 4,
      pointRadius: band || data.length > few ? 0 : strong ? 2 : 2.6, pointBorderWidth: 1.2,
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
        suggestedMin: axes[axis].log ? undefined : 0,
      },
      y: scale(chart.log ? chart.y.replace(/\)$/, ', log)') : chart.y, chart.log, format),
    }, tooltip((items) => (items.length ? axes[axis].word(items[0].parsed.x) : ''),
               (item) => ` ${item.dataset.label}: ${format(item.parsed.y)}`));
    config.options.plugins.tooltip.itemSort = (a, b) => b.parsed.y - a.parsed.y;
    config.options.plugins.tooltip.filter = (item, place) => !item.dataset.aside && place < 16;
    config.data.datasets = chart.series.map(
        (series) => dataset(series, points(series, records[series.record], axis, chart.log)));
    return new Chart(canvas, config);
  };

  // The standard deviation over seeds as a line; names beside points, where they fit.
  const labels = {
    id: 'labels',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea: area} = chart, taken = [];
      const narrow = matchMedia('(max-width: 40rem)').matches;
      ctx.save();
      ctx.font = '12px system-ui, sans-serif';
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
        if (!set.named || narrow) return;
        const width = ctx.measureText(point.name).width;
        for (const [dx, dy] of [[8, -7], [-8 - width, -7], [8, 15], [-8 - width, 15]]) {
          const box = {left: at.x + dx, right: at.x + dx + width, top: at.y + dy - 10, bottom: at.y + dy + 3};
          const apart = (t) => box.right < t.left || box.left > t.right || box.bottom < t.top || box.top > t.bottom;
          const inside = box.left > area.left && box.right < area.right &&
              box.top > area.top && box.bottom < area.bottom;
          if (!inside || !taken.every(apart)) continue;
          taken.push(box);
          ctx.fillStyle = style('--ink');
          ctx.fillText(point.name, box.left, at.y + dy);
          break;
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
    }, tooltip((items) => (items.length ? items[0].raw.name : ''),
               (item) => ` ${item.dataset.label}: ${short(item.parsed.y)} at ${short(item.parsed.x)}x`));
    config.options.interaction = {mode: 'nearest', axis: 'xy', intersect: true};
    config.plugins = [labels];
    const usable = (point) => drawable(point.x) && drawable(point.y) && point.x > 0 && (!data.log || point.y > 0);
    const factors = [...data.points, ...data.printed].filter(usable).map((point) => point.x);
    Object.assign(config.options.scales.x, {min: Math.min(...factors) / 1.25, max: Math.max(...factors) * 1.25});
    const figures = [...new Set([...data.points, ...data.printed].map((point) => point.figure))];
    const of = (points, figure) => points.filter((point) => point.figure === figure && usable(point));
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
        ...scale('Row (label)', false, (at) => cut(plot.rows[at] ?? '')),
        reverse: true, min: -0.5, max: plot.rows.length - 0.5,
        afterBuildTicks: (axis) => { axis.ticks = plot.rows.map((_, value) => ({value})); },
      },
    }, tooltip((items) => (items.length ? plot.rows[items[0].raw.y] : ''),
               (item) => ` ${item.dataset.label}: ${short(item.parsed.x)}`));
    config.options.scales.y.ticks.autoSkip = false;
    config.options.interaction = {mode: 'nearest', axis: 'xy', intersect: true};
    config.plugins = [labels];
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
      x: {...scale('Who trains (device)', false, (index) => names[index].split(', ')), type: 'category', stacked: true},
      y: {...scale(y, false, format), stacked: true, beginAtZero: true},
    }, tooltip((items) => (items.length ? items[0].label : ''),
               (item) => ` ${item.dataset.label}: ${format(item.parsed.y)}`));
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
      if (set.pointRadius > 0) svg.append(mark(1, 1.2));
    }
    return svg;
  };

  return {axes, bars, dots, human_bytes, human_count, human_joules, lines, log_ticks, points, scatter, short, swatch, whole};
})();
