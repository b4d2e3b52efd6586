'use strict';
// Names beside the points of a scatter plot: none covers another, a point, or the edge of the chart.
// A name that has no room next to its point is moved further away and tied to it by a thin line; one
// that has no room there either is left to the readout (hover.js).
globalThis.hearsayLabels = (() => {
  const font = '12px system-ui, sans-serif';
  const height = 14;
  const longest = 38;  // letters
  const cut = (name) => (name.length > longest ? `${name.slice(0, longest - 1)}\u2026` : name);

  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const within = (box, area) =>
      box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
  const around = (x, y, radius) => ({left: x - radius, right: x + radius, top: y - radius, bottom: y + radius});

  // Where a name of that width may be put, nearest first.
  const boxes = function* (x, y, width) {
    for (const far of [9, 20, 34, 52, 72]) {
      for (const [dx, dy] of [[1, -0.7], [-1, -0.7], [1, 0.7], [-1, 0.7], [0, -1], [0, 1], [1, 0], [-1, 0]]) {
        const middle = y + dy * (far + (dx === 0 ? height / 2 : 2));
        const left = dx > 0 ? x + dx * far : dx < 0 ? x + dx * far - width : x - width / 2;
        yield {left, right: left + width, top: middle - height / 2, bottom: middle + height / 2, far};
      }
    }
  };

  // The end of the line from a point to its name.
  const end_of = ({box, x, y}) => [Math.min(Math.max(x, box.left), box.right), Math.min(Math.max(y, box.top), box.bottom)];

  // Whether that line would run through another name, or a line to a name placed before through this one.
  const on_line = (label, k) => {
    const [x, y] = end_of(label), part = k / 8;
    return around(label.x + part * (x - label.x), label.y + part * (y - label.y), 0.5);
  };
  const crosses = (label, placed) => placed.some((other) => [1, 2, 3, 4, 5, 6, 7].some(
      (k) => overlap(on_line(label, k), other.box) || overlap(on_line(other, k), label.box)));

  // points: [{x, y, name}] in pixels, the most important first; obstacles: boxes that stay free.
  // Returns the placed ones as [{name, box, x, y}]; `measure` gives the width of a text.
  const place = (points, obstacles, area, measure) => {
    const taken = [...obstacles], placed = [];
    for (const {x, y, name} of points) {
      const text = cut(name);
      for (const box of boxes(x, y, measure(text))) {
        if (!within(box, area) || taken.some((other) => overlap(box, other)) || crosses({box, x, y}, placed)) continue;
        taken.push(box);
        placed.push({name: text, box, x, y});
        break;
      }
    }
    return placed;
  };

  // `style(name)` is a colour of the page. Placed names are chart.$labels.
  const plugin = (style) => ({
    id: 'labels',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea: area} = chart, points = [], obstacles = [];
      chart.$labels = [];
      chart.data.datasets.forEach((set, s) => {
        if (!chart.isDatasetVisible(s) || set.type === 'line') return;
        chart.getDatasetMeta(s).data.forEach((at, k) => {
          obstacles.push(around(at.x, at.y, 7));
          const point = set.data[k];
          if (set.named) points.push({x: at.x, y: at.y, name: point.name, front: point.front ? 0 : 1});
        });
      });
      ctx.save();
      ctx.font = font;
      if (!matchMedia('(max-width: 40rem)').matches) {
        points.sort((a, b) => a.front - b.front);
        chart.$labels = place(points, obstacles, area, (text) => ctx.measureText(text).width);
      }
      ctx.fillStyle = style('--ink');
      ctx.strokeStyle = style('--soft');
      ctx.lineWidth = 0.75;
      for (const label of chart.$labels) {
        if (label.box.far > 9) {
          ctx.beginPath();
          ctx.moveTo(label.x, label.y);
          ctx.lineTo(...end_of(label));
          ctx.stroke();
        }
        ctx.fillText(label.name, label.box.left, label.box.bottom - 3.5);
      }
      ctx.restore();
    },
  });

  return {end_of, place, plugin};
})();
