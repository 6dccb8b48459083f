// What is pointed at in one view is marked in all of them, and in the plans beside it, where the kernels that share
// its ops are marked lightly. One listener for the page; a view registers the elements of each kernel once.

const report_views = [];           // every plan that is built
const view_of_element = new WeakMap();  // a plan's element -> its view
const spot_of_element = new WeakMap();  // elements that mean more than one kernel: rows of a comparison

function make_view(graph, plan, graph_index, element) {
  const kernels_of = graph.ops.map(() => []);
  plan.kernels.forEach((kernel, k) => kernel.ops.forEach(op => kernels_of[op].push(k)));
  const view = {
    graph, plan, graph_index, element, kernels_of,
    marks: plan.kernels.map(() => []),
    painters: [],   // (hot kernels, warm kernels) => draws what no class can
    revealers: [],  // kernel => brings it into sight
    printers: [],   // () => shows all of the view
    for_print() { this.printers.forEach(show => show()); },
  };
  view_of_element.set(element, view);
  report_views.push(view);
  return view;
}

function mark(view, kernel, element) {
  element.setAttribute("data-k", kernel);
  view.marks[kernel].push(element);
  return element;
}

// ids => the kernels of `view` that compute one of the ops of these kernels of another view.
function sharing(view, other, kernels) {
  const found = new Set();
  for (const k of kernels) for (const op of other.plan.kernels[k].ops) for (const mine of view.kernels_of[op]) found.add(mine);
  return found;
}

function spot_of(target) {
  const element = target && target.closest && target.closest("[data-k], [data-spot]");
  if (!element) return null;
  if (spot_of_element.has(element)) return spot_of_element.get(element);
  const home = element.closest(".plan");
  if (!home) return null;
  const view = view_of_element.get(home), kernel = Number(element.getAttribute("data-k"));
  return { hot: [[view, [kernel]]], text: () => `${plan_name(view)}${kernel_sentence(view.graph, view.plan, kernel)}` };
}

const plan_name = view => (view.graph.plans.length > 1 ? isolated_text(shown_name(view.plan.label, 40)) + ": " : "");

const lit = { elements: [], views: [], spot: null, focused: null };

function highlight(spot) {
  for (const element of lit.elements) element.classList.remove("hot", "warm");
  for (const view of lit.views) view.painters.forEach(paint => paint(new Set(), new Set()));
  lit.elements = [];
  lit.views = [];
  lit.spot = spot;
  const line = document.getElementById("details");
  line.textContent = spot ? spot.text() : "";
  line.classList.toggle("shown", Boolean(spot));
  if (!spot) return;
  const hot = new Map(spot.hot.map(([view, kernels]) => [view, new Set(kernels)]));
  const graph = spot.hot[0][0].graph;
  for (const view of report_views) {
    if (view.graph !== graph) continue;
    const strong = hot.get(view) || new Set();
    const weak = new Set();
    if (!hot.has(view)) for (const [other, kernels] of hot) sharing(view, other, kernels).forEach(k => weak.add(k));
    light(view, strong, "hot");
    light(view, weak, "warm");
    view.painters.forEach(paint => paint(strong, weak));
    lit.views.push(view);
  }
}

function light(view, kernels, how) {
  for (const k of kernels) for (const element of view.marks[k]) {
    element.classList.add(how);
    lit.elements.push(element);
  }
}

function link_views() {
  const main = document.getElementById("main");
  let over = null;  // the element whose spot is lit by the pointer
  main.addEventListener("pointerover", event => {
    const element = event.target.closest("[data-k], [data-spot]");
    if (element === over) return;
    over = element;
    highlight(spot_of(element) || lit.focused);
  });
  main.addEventListener("pointerleave", () => {
    over = null;
    highlight(lit.focused);
  });
  main.addEventListener("focusin", event => {
    const home = event.target.closest("[data-rove]");
    if (home) for (const item of rovers.get(home)()) item.setAttribute("tabindex", item === event.target ? 0 : -1);
    const spot = spot_of(event.target);
    lit.focused = spot;
    if (!spot) return;
    highlight(spot);
    document.getElementById("spoken").textContent = spot.text();
    for (const [view, kernels] of spot.hot) view.revealers.forEach(reveal => reveal(kernels, event.target));
  });
  main.addEventListener("focusout", () => {
    lit.focused = null;
    highlight(over && over.isConnected ? spot_of(over) : null);
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "Escape") {
      over = null;
      document.activeElement.blur();
      highlight(null);
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && document.activeElement.matches("body, main, .canvas")) {
      const next = beside(over && over.isConnected ? over : null, event.key === "ArrowRight" ? 1 : -1);
      if (!next) return;
      event.preventDefault();
      enter(next);
    }
  });
}

// The kernel after or before the one pointed at, in the same view; without one, kernel 0 in a view that is on screen.
function beside(element, step) {
  const at = (view, k) => Array.from(view.querySelectorAll(`[tabindex][data-k="${k}"]`)).find(item => item.getClientRects().length);
  const home = element && element.closest(".view");
  if (home && element.hasAttribute("data-k")) {
    const k = Number(element.getAttribute("data-k"));
    return at(home, k + step) || at(home, k);
  }
  const views = Array.from(document.querySelectorAll(".graph:not([hidden]) .view")).filter(view => at(view, 0));
  const on_screen = view => {
    const { top, bottom } = at(view, 0).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  const view = views.find(on_screen) || views[0];
  return view && at(view, 0);
}

// Arrow keys move among `items()`, of which one is in the order of Tab. No listener for the focus here: a browser then
// takes a group of a drawing for something that can have it.
const rovers = new WeakMap();

function rove(container, items) {
  container.setAttribute("data-rove", "");
  rovers.set(container, items);
  container.addEventListener("keydown", event => {
    const list = items(), at = list.findIndex(item => item.contains(document.activeElement));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    let to = event.key === "Home" ? 0 : event.key === "End" ? list.length - 1 : step === undefined ? -1 : at + step;
    if (step === undefined && to < 0) return;
    event.preventDefault();
    event.stopPropagation();
    to = Math.min(Math.max(0, to), list.length - 1);
    enter(list[to]);
  });
  const first = items()[0];
  if (first) first.setAttribute("tabindex", 0);
}

function enter(item) {
  item.setAttribute("tabindex", 0);
  item.focus({ preventScroll: item instanceof SVGElement });
}
