'use strict';
// Tables whose header cells are buttons: a click sorts, another one reverses the order.
(() => {
  const words = new Intl.Collator('en', {numeric: true, sensitivity: 'base'});

  // A column is numeric if any of its cells has a number; cells without one come last in both
  // orders.
  const sort = (table, column, sign) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const cell = row.cells[column];
      const value = cell && cell.dataset.value;
      return {row, text: cell ? cell.textContent : '', value: value === undefined ? NaN : Number(value)};
    });
    const numbers = rows.some((r) => !Number.isNaN(r.value));
    rows.sort((a, b) => {
      if (!numbers) return sign * words.compare(a.text, b.text);
      if (Number.isNaN(a.value) || Number.isNaN(b.value)) return Number.isNaN(a.value) - Number.isNaN(b.value);
      return sign * (a.value - b.value);
    });
    body.append(...rows.map((r) => r.row));
  };

  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
      const ascending = head.getAttribute('aria-sort') !== 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      sort(table, column, ascending ? 1 : -1);
    }));
  }
})();
