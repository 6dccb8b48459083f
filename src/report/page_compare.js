// What sets the other plans apart from the fastest one: stretches of ops that the two schedule differently, and the
// time that each of them is worth. The worths of a plan add up to its difference.

function comparison_section(graph, views) {
  const { reference, plans } = graph.comparison;
  const id = `${views[0].element.id}-compare`;
  const section = html("section", { class: "compare", "aria-labelledby": id }, html("h2", { id }, "What the difference is made of"));
  const columns = html("div", { class: "pairs" });
  for (const entry of plans) columns.append(comparison_of(graph, views, entry, reference));
  section.append(columns);
  return section;
}

function comparison_of(graph, views, entry, reference) {
  const view = views[entry.plan], best = views[reference], time = graph.time_unit;
  const name = v => isolated(shown_name(v.plan.label, 40));
  const title = html("h3", {}, html("b", {}, name(view)));
  if (!view.plan.legal) {
    title.append(" is illegal: its time ends at the fault, and is compared with none.");
    return html("section", { class: "pair" }, title);
  }
  if (entry.difference === 0) title.append(" is as fast as ", html("b", {}, name(best)));
  else title.append(` is ${time_text(Math.abs(entry.difference))} ${time} ${entry.difference > 0 ? "slower" : "faster"} than `, html("b", {}, name(best)));
  const aside = greedy_note(graph, view.plan);
  const block = html("section", { class: "pair" }, title, ...(aside ? [html("p", { class: "note" }, aside)] : []));
  if (!entry.segments.length) {
    block.append(html("p", { class: "note" }, "Both schedule every op in the same way."));
    return block;
  }
  const columns = [
    { name: "ops" }, { name: "kernels here" }, { name: "fastest has" }, { name: "what differs" }, { name: "worth", numeric: true }, { name: "share" },
  ];
  const most = d3.max(entry.segments, segment => Math.abs(segment.worth)) || 1;
  const rows = entry.segments.map(segment => segment_row(view, best, segment, entry, most));
  const keys = entry.segments.map(segment => [segment.ops[0], segment.kernels[0], segment.reference_kernels[0], segment.changes.join(), segment.worth, segment.worth]);
  const total = html("tr", {}, html("th", { scope: "row", colspan: 4 }, "sum"), html("td", { class: "n" }, signed_time(d3.sum(entry.segments, segment => segment.worth))), html("td", {}));
  const table = sortable_table(columns, rows, keys, `Stretches that differ, in ${time}; a positive worth is time that the fastest plan saves.`, total, { column: 4, up: false });
  block.append(scroll_frame(table, "What differs"));
  return block;
}

const signed_time = x => (x > 0 ? "+" : "") + time_text(x);
const kernel_range = ([first, count]) => (count === 0 ? "-" : count === 1 ? String(first) : `${first}-${first + count - 1}`);

function segment_row(view, best, segment, entry, most) {
  const worth = segment.worth, wide = 5 * Math.abs(worth) / most;
  const bar = html("span", { class: `worth ${worth >= 0 ? "loss" : "win"}`, "aria-hidden": "true" });
  bar.style.width = `${wide.toFixed(2)}rem`;
  const share = entry.difference ? percent_text(worth / entry.difference) : "";
  const list = html("ul", {}, ...segment.changes.map(change => html("li", {}, isolated(shown_name(change, 200)))));
  const row = html("tr", { tabindex: -1, "data-spot": "" },
    html("th", { scope: "row" }, html("span", { class: "cut" }, ids_text(segment.ops)), ...names_line(view.graph, segment.ops)), html("td", {}, kernel_range(segment.kernels)), html("td", {}, kernel_range(segment.reference_kernels)),
    html("td", { class: "changes" }, list), html("td", { class: "n" }, signed_time(worth)), html("td", { class: "share" }, html("span", { class: "n" }, share), bar));
  const names = names_text(view.graph, segment.ops), named = names && ` (${names})`;
  const kernels = ([first, count]) => d3.range(first, first + count);
  spot_of_element.set(row, {
    hot: [[view, kernels(segment.kernels)], [best, kernels(segment.reference_kernels)]].filter(part => part[1].length),
    text: () => `ops ${ids_text(segment.ops)}${named}: ${signed_time(worth)} ${view.graph.time_unit} · kernels ${kernel_range(segment.kernels)} here, ${kernel_range(segment.reference_kernels)} in the fastest · ${segment.changes.join("; ")}`,
  });
  return row;
}

// The user's names below the numbers.
function names_line(graph, ops) {
  const names = names_text(graph, ops);
  return names ? [html("br"), html("span", { class: "cut dim", title: names_text(graph, ops, 40) }, names)] : [];
}
