// A graph's section: what it is, its plans side by side, what sets them apart, how they were found.

function graph_heading(graph, index) {
  const heading = html("h1", { id: `name-${index + 1}`, title: shown_name(graph.name, 300) });
  heading.append(isolated(shown_name(graph.name, 80)));
  const machine = graph.machine, size = graph.size_unit;
  const facts = [
    plural(graph.ops.length, "op"), ...(one_reading(graph) ? [reading_of(graph.plans[0])] : []),
    `${size_text(machine.capacity)} ${size} of fast memory`,
    machine.bandwidth ? `${d3.format(",~r")(machine.bandwidth)} ${size} per ${one_of(graph.time_unit)}` : "moving is free",
    ...(machine.launch ? [`${d3.format(",~r")(machine.launch)} ${graph.time_unit} a launch`] : []),
    ...(machine.max_fusion_depth ? [`up to ${plural(machine.max_fusion_depth, "op")} a kernel`] : []),
    ...(machine.native ? [`native ${machine.native.join(" x ")}`] : []),
  ];
  return html("header", { class: "about" }, heading, html("p", { class: "facts" }, facts.join(" · ")));
}

// Under which rules a plan is judged; said once where all plans of the graph agree.
const reading_of = plan => `rules ${plan.rules}` + (plan.order ? ` · order ${plan.order}` : "");
const one_reading = graph => new Set(graph.plans.map(reading_of)).size === 1;

const one_of = unit => unit.replace(/s$/, "");

function fill_graph(section, graph, graph_index) {
  const row = html("div", { class: `plans count-${Math.min(graph.plans.length, 3)}` });
  const views = graph.plans.map((plan, plan_index) => {
    const id = `graph-${graph_index + 1}-plan-${plan_index + 1}`;
    const article = html("article", { class: "plan", id, "aria-labelledby": `${id}-label` });
    row.append(article);
    return make_view(graph, plan, graph_index, article);
  });
  if (graph.comparison) section.append(comparison_section(graph, views));
  section.append(row);  // before the charts are drawn: they take the width that they find
  views.forEach((view, plan_index) => fill_plan(view, plan_index));
  if (graph.log && graph.log.length) append_log(section, graph);
}

function fill_plan(view, plan_index) {
  const { graph, plan, element } = view;
  element.append(plan_heading(graph, plan, plan_index, `${element.id}-label`), plan_figures(graph, plan));
  if (plan.fault) {
    element.append(html("p", { class: "fault", role: "note" }, html("strong", {}, "Illegal: "), isolated(shown_name(plan.fault.message, 600))));
  }
  const left = html("div", { class: "left" }), right = html("div", { class: "right" });
  element.append(html("div", { class: "views" }, left, right));
  if (plan.kernels.length) {
    append_time(right, view);
    append_roofline(right, view);
  }
  append_graph(left, view, right);  // last: beside charts it is as tall as they are
  if (plan.kernels.length) append_table(element, view);
}

function plan_heading(graph, plan, plan_index, id) {
  const heading = html("h2", { id, title: shown_name(plan.label, 300) }, isolated(shown_name(plan.label, 60)));
  const badge = html("span", { class: plan.legal ? "badge legal" : "badge illegal" }, plan.legal ? "legal" : "illegal");
  const line = html("div", { class: "label" }, heading, badge);
  if (graph.comparison && graph.comparison.reference === plan_index) line.append(html("span", { class: "badge" }, "fastest here"));
  if (!one_reading(graph)) line.append(html("span", { class: "badge" }, reading_of(plan)));
  return line;
}

// Term, figure, and a word about it.
function plan_figures(graph, plan) {
  const { totals } = plan, time = graph.time_unit, size = graph.size_unit;
  const gap = gap_of(plan);
  const known = field => [plan, ...graph.plans.filter(other => reading_of(other) === reading_of(plan))].map(other => other[field]).find(value => value !== null && value !== undefined);
  const greedy = known("greedy_latency"), naive = known("naive_latency");
  const against = other => (plan.latency === other ? "as this plan" : `this plan ${plan.latency > other ? "+" : "−"}${percent_text(Math.abs(plan.latency / other - 1))}`);
  // The environment's figure of greedy reads last uses free, which no plan can.
  const scored = graph.family === "walk" && plan.rules.startsWith("seed") ? "; it reads last uses free, as no plan can" : "";
  const figures = [
    ["Latency", time_text(plan.latency), plan.legal ? time : `${time}, up to the fault`],
    ["Lower bound", time_text(plan.lower_bound), gap === null ? "none known" : gap > 0 ? `gap ${percent_text(gap)}` : "no gap"],
    ...(plan.legal ? [["Proof", plan.proof || "–", proof_word(plan.proof)]] : []),
    ...(greedy === undefined ? [] : [["Greedy", time_text(greedy), against(greedy) + (plan.latency > greedy ? scored : "")]]),
    ...(naive === undefined ? [] : [["Naive", time_text(naive), against(naive)]]),
    ["Kernels", grouped_whole(plan.kernels.length), graph.machine.launch ? `${grouped_whole(totals.launches)} ${totals.launches === 1 ? "launch" : "launches"}` : `of ${plural(graph.ops.length, "op")}`],
    ["Compute", time_text(totals.compute), `${percent_text(totals.compute / plan.latency)} of the latency`],
    ["Memory", time_text(totals.memory), `${percent_text(totals.memory / plan.latency)} of the latency`],
    ["Moved", size_text(totals.loaded + totals.stored), `${size}, ${size_text(totals.stored)} stored`],
    ["Largest working set", size_text(totals.largest_working_set), `${percent_text(totals.largest_working_set / graph.machine.capacity)} of capacity`],
  ];
  return html("dl", { class: "figures" }, ...figures.map(([term, figure, word]) =>
    html("div", {}, html("dt", {}, term), html("dd", {}, figure), html("dd", { class: "word", title: word }, word))));
}

function proof_word(proof) {
  if (proof === "optimal") return "no plan is faster";
  if (proof === "optimal in the declared space") return "of the kernels that were tried";
  if (proof === "none") return "may be beaten";
  return "the plan file says nothing";
}

// A view's frame: a heading, a drawing, and a line that says how to read it.
function view_panel(view, name, heading, note) {
  const id = `${view.element.id}-${name}`;
  const title = html("h3", { id }, heading);
  const bar = html("div", { class: "bar" }, title);
  const panel = html("section", { class: `view ${name}`, "aria-labelledby": id }, bar);
  const body = html("div", { class: "body" });
  panel.append(body);
  if (note) panel.append(html("p", { class: "note" }, note));
  return { panel, bar, body };
}

const paper_width = 640;
const drawn_to_width = [];  // what is drawn anew for paper, and again for the screen

// Draws now, and again whenever the width of `body` changes, which it doesn't while hidden or on paper.
function draw_to_width(body, draw) {
  let width = 0;
  const update = () => {
    const now = Math.floor(body.clientWidth);
    if (now < 50 || now === width || (width && matchMedia("print").matches)) return;
    width = now;
    draw(width);
  };
  update();
  new ResizeObserver(() => requestAnimationFrame(update)).observe(body);
  return {
    on_paper() { draw(paper_width); },
    on_screen() { width = 0; update(); },
  };
}

// A chart: drawn for the width of a sheet when it is printed.
function draw_chart(body, draw) {
  drawn_to_width.push(draw_to_width(body, draw));
}

// A description in words for those who don't see a chart; the chart's marks lie outside of it.
function described(words) {
  return svg("g", { role: "img", "aria-label": words });
}
