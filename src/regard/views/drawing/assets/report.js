// Headings of tables sort: numbers from the largest, names from the first.
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const column = head.cellIndex, rows = [...body.rows];
    const value = (row) => row.cells[column].dataset.number ?? row.cells[column].textContent;
    const numeric = rows.length > 0 && "number" in rows[0].cells[column].dataset;
    const compare = numeric
      ? (a, b) => value(b) - value(a)
      : (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
    const again = head.hasAttribute("aria-sort") && !head.dataset.turned;
    rows.sort((a, b) => (again ? -1 : 1) * compare(a, b));
    for (const other of head.parentElement.cells) {
      other.removeAttribute("aria-sort");
      delete other.dataset.turned;
    }
    if (again) head.dataset.turned = "yes";
    head.setAttribute("aria-sort", numeric !== again ? "descending" : "ascending");
    body.append(...rows);
  });
}
