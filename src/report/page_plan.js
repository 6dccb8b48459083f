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
  const top = html("div", {}, plan_heading(graph, plan, plan_index, `${element.id}-label`), plan_figures(graph, plan));
  element.append(top);
  const warnings = { "Illegal: ": plan.fault && plan.fault.message, "Warning: ": plan.doubt };
  for (const word in warnings) {
    if (warnings[word]) top.append(html("p", { class: "fault", role: "note" }, html("strong", {}, word), isolated(shown_name(warnings[word], 600))));
  }
  if (plan.overflows) top.append(html("p", { class: "note over" }, `${overflow_words(plan.overflows)} fast memory, which the rules ${plan.rules} allow at a fixed penalty; --rules physical is the rule set without that loophole.`));
  const aside = greedy_note(graph, plan);
  if (aside && !graph.comparison) top.append(html("p", { class: "note" }, aside));
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
  if (plan.overflows) line.append(html("span", { class: "badge illegal" }, overflow_words(plan.overflows)));
  if (graph.comparison && graph.comparison.reference === plan_index) line.append(html("span", { class: "badge" }, "fastest here"));
  if (!one_reading(graph)) line.append(html("span", { class: "badge" }, reading_of(plan)));
  return line;
}

// What a plan's file, or that of another plan under the same rules and order, says of all plans: its mates come after it.
const mates_of = (graph, plan) => [plan, ...graph.plans.filter(other => other !== plan && reading_of(other) === reading_of(plan))];
const known_of = (graph, plan, field) => mates_of(graph, plan).map(mate => mate[field]).find(has_figure);
const has_figure = value => value !== null && value !== undefined;

// The environment has its own figure of greedy under the seed rules.
const scored_greedy = (graph, plan) => (graph.family === "walk" && plan.rules.startsWith("seed") ? known_of(graph, plan, "greedy_latency") : undefined);

function greedy_note(graph, plan) {
  const scored = scored_greedy(graph, plan);
  if (plan.label !== "greedy" || scored === undefined || plan.latency <= scored || same_figure(plan.latency, scored)) return "";
  return "The environment scores against its own greedy figure, which reads last uses free; the plan shown here is what an agent that plays it pays.";
}

// The best proven bound; one of a declared space only is that plan's own.
const bound_of = (graph, plan) => d3.max(mates_of(graph, plan).filter(mate => mate === plan || mate.proof !== "optimal in the declared space"), mate => mate.lower_bound);

function proof_of(graph, plan) {
  const best = mates_of(graph, plan).find(mate => mate.proof === "optimal");
  if (plan.doubt) return ["none", "its file claims what is false"];
  if (!best || plan === best) return [plan.proof || "–", proof_words[plan.proof] || "the plan file says nothing"];
  return same_figure(best.latency, plan.latency) ? ["optimal", proof_words.optimal] : ["none", "beaten here"];
}

const proof_words = { optimal: "no plan is faster", "optimal in the declared space": "of the kernels that were tried", none: "may be beaten" };

// Term, figure, and a word about it.
function plan_figures(graph, plan) {
  const { totals } = plan, time = graph.time_unit, size = graph.size_unit;
  const against = other => (same_figure(plan.latency, other) ? "as this plan" : `this plan ${plan.latency > other ? "+" : "−"}${percent_text(Math.abs(plan.latency / other - 1))}`);
  const baseline = (term, other) => (other === undefined ? [] : [[term, time_text(other), against(other)]]);
  const bound = bound_of(graph, plan);
  const above = !has_figure(bound) ? "none known" : plan.latency <= bound || same_figure(plan.latency, bound) ? "reached" : `${percent_text(plan.latency / bound - 1)} above it`;
  const figures = [
    ["Latency", time_text(plan.latency), plan.legal ? time : `${time}, up to the fault`],
    ...(plan.legal ? [["Lower bound", time_text(bound), above], ["Proof", ...proof_of(graph, plan)]] : []),
    ...baseline(scored_greedy(graph, plan) === undefined ? "Greedy" : "Greedy, as scored", known_of(graph, plan, "greedy_latency")),
    ...baseline("Naive", known_of(graph, plan, "naive_latency")),
    ["Kernels", grouped_whole(plan.kernels.length), graph.machine.launch ? `${grouped_whole(totals.launches)} ${totals.launches === 1 ? "launch" : "launches"}` : `of ${plural(graph.ops.length, "op")}`],
    ["Compute", time_text(totals.compute), `${percent_text(totals.compute / plan.latency)} of the latency`],
    ["Memory", time_text(totals.memory), `${percent_text(totals.memory / plan.latency)} of the latency`],
    ["Moved", size_text(totals.loaded + totals.stored), `${size}, ${size_text(totals.stored)} stored`],
    ["Largest working set", size_text(totals.largest_working_set), `${percent_text(totals.largest_working_set / graph.machine.capacity)} of capacity`, over_capacity(plan)],
  ];
  return html("dl", { class: "figures" }, ...figures.map(([term, figure, word, warning]) =>
    html("div", {}, html("dt", {}, term), html("dd", {}, figure), html("dd", { class: "word" }, word), ...(warning ? [html("dd", { class: "word over" }, warning)] : []))));
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
