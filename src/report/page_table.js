// Tables: the kernels of a plan with the figures that `explain` prints, and sorting by a column.

// Kinds: `free` ones may be broken anywhere on paper, lists of `ids` are kept narrow, `what` takes the room that is left.
const kernel_columns = [
  { name: "kernel", value: (_, kernel, k) => k },
  { name: "ops", kind: "free ids", text: (_, kernel) => ids_text(kernel.ops), value: (_, kernel) => kernel.ops[0] },
  { name: "what", kind: "free what", text: (graph, kernel) => kernel.ops.map(op => [graph.ops[op].op, op_name(graph, op, 60)].filter(Boolean).join(" ")).join("+") },
  { name: "tile", text: (_, kernel) => kernel.tile.replaceAll(" x ", "×"), value: (_, kernel) => parseFloat(kernel.tile) },
  { name: "traversal", text: (_, kernel) => (kernel.traversal || "raster").replace(" by ", " "), family: "grid" },
  { name: "latency", number: time_text, value: (_, kernel) => kernel.latency, total: (_, plan) => plan.latency },
  { name: "compute", number: time_text, value: (_, kernel) => kernel.compute, total: totals => totals.compute },
  { name: "memory", number: time_text, value: (_, kernel) => kernel.memory, total: totals => totals.memory },
  { name: "launch", number: time_text, value: (_, kernel) => kernel.launch, total: totals => totals.launch, family: "walk" },
  { name: "bound", text: (_, kernel) => kernel.bound },
  { name: "loads", kind: "free ids", text: (_, kernel) => ids_text(kernel.loads), value: (_, kernel) => kernel.loads.length },
  { name: "stores", kind: "free ids", text: (_, kernel) => ids_text(kernel.stores), value: (_, kernel) => kernel.stores.length },
  { name: "retained", kind: "free ids", text: (_, kernel) => ids_text(kernel.retain), value: (_, kernel) => kernel.retain.length },
  { name: "loaded", number: size_text, value: (_, kernel) => kernel.loaded, total: totals => totals.loaded },
  { name: "stored", number: size_text, value: (_, kernel) => kernel.stored, total: totals => totals.stored },
  { name: "working set", number: size_text, value: (_, kernel) => kernel.working_set, total: totals => totals.largest_working_set },
  { name: "of capacity", number: share => d3.format(".0f")(100 * share) + " %", value: (_, kernel) => kernel.working_set_share },
];

function append_table(parent, view) {
  const { graph, plan } = view;
  const columns = kernel_columns.filter(column => !column.family || column.family === graph.family);
  const { body } = view_panel_in(parent, view, "table", "Kernels");
  const rows = plan.kernels.map((kernel, k) => {
    const row = html("tr", { tabindex: -1 }, ...columns.map(column => cell_of(column, graph, kernel, k)));
    row.children[2].setAttribute("title", kernel.ops.slice(0, 40).map(op => op_title(graph, op).replace("\n", " ")).join("\n"));
    return mark(view, k, row);
  });
  const total = html("tr", {}, html("th", { scope: "row" }, "total"), ...columns.slice(1).map(column =>
    html("td", column.number ? { class: "n" } : {}, column.total ? column.number(column.total(plan.totals, plan)) : "")));
  const sort_keys = plan.kernels.map((kernel, k) => columns.map(column => (column.value ? column.value(graph, kernel, k) : column.text(graph, kernel))));
  const caption = `${plural(rows.length, "kernel")}; times in ${graph.time_unit}, sizes in ${graph.size_unit}. Of the working sets, the largest is below.`;
  const table = sortable_table(columns.map(column => ({ name: column.name, numeric: Boolean(column.number) || column.name === "kernel" })), rows, sort_keys, caption, total);
  body.append(scroll_frame(table, `Kernels of ${shown_name(plan.label, 60)}`));
  view.revealers.push((kernels, source) => {
    if (!table.contains(source)) table.parentElement.scrollTop = rows[kernels[0]].offsetTop - table.parentElement.clientHeight / 2;
  });
}

function cell_of(column, graph, kernel, k) {
  if (column.name === "kernel") return html("th", { scope: "row" }, html("span", { class: `swatch ${kernel_class(k)}`, "aria-hidden": "true" }), String(k));
  if (column.number) return html("td", { class: "n" }, column.number(column.value(graph, kernel, k)));
  const text = column.text(graph, kernel);
  return html("td", column.kind ? { class: column.kind, title: text } : {}, html("span", { class: "cut" }, text));
}

// Wide tables scroll inside their frame, by keyboard too.
const scroll_frame = (table, label) => html("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, table);

// `keys` has a value for each row and column; a second press on a header turns the order around.
function sortable_table(columns, rows, keys, caption, total, first = { column: 0, up: true }) {
  const head = html("tr"), body = html("tbody");
  let sorted = first, order = rows;
  const sort = () => {
    const { column, up } = sorted;
    const ranks = d3.range(rows.length).sort((a, b) => {
      const by = d3.ascending(keys[a][column], keys[b][column]);
      return (up ? by : -by) || a - b;
    });
    order = ranks.map(i => rows[i]);
    body.append(...order);
    headers.forEach((header, c) => header.setAttribute("aria-sort", c === column ? (up ? "ascending" : "descending") : "none"));
  };
  const headers = columns.map((column, c) => {
    const button = html("button", { type: "button" }, column.name);
    const header = html("th", { scope: "col", ...(column.numeric ? { class: "n" } : {}) }, button);
    button.addEventListener("click", () => {
      sorted = { column: c, up: sorted.column === c ? !sorted.up : true };
      sort();
    });
    head.append(header);
    return header;
  });
  sort();
  rove(body, () => order);
  return html("table", { class: "rows" }, html("caption", {}, caption), html("thead", {}, head), body, ...(total ? [html("tfoot", {}, total)] : []));
}
