"use strict";
// The page of `fuselage report`: what it shows is in #data and nowhere else. This file chooses the graph and the
// theme; a graph is built when it is first looked at, so a page of many opens as fast as a page of one.

const report = { graphs: [], built: [], shown: -1 };

function open_report() {
  const data = JSON.parse(document.getElementById("data").textContent);
  report.graphs = data.graphs;
  document.getElementById("version").textContent = data.version;
  const main = document.getElementById("main");
  report.sections = data.graphs.map((graph, index) => {
    const section = html("section", { id: `graph-${index + 1}`, class: "graph", hidden: "", "aria-labelledby": `name-${index + 1}` });
    section.append(graph_heading(graph, index));
    main.append(section);
    return section;
  });
  if (data.graphs.length > 1) offer_graphs(data.graphs);
  choose_theme();
  link_views();
  window.addEventListener("hashchange", show_chosen);
  show_chosen();
  print_everything();
}

function offer_graphs(graphs) {
  const list = html("ul");
  graphs.forEach((graph, index) => {
    const link = html("a", { href: `#graph-${index + 1}`, title: shown_name(graph.name, 300) });
    link.append(isolated(shown_name(graph.name, 40)));
    list.append(html("li", {}, link));
  });
  const nav = document.getElementById("graphs");
  nav.append(list);
  nav.hidden = false;
}

// The hash says which graph is shown, so that a link or a reload comes back to it.
function show_chosen() {
  const found = /^#graph-(\d+)$/.exec(location.hash);
  if (!found && report.shown >= 0) return;
  const index = found ? Math.min(Math.max(1, Number(found[1])), report.graphs.length) - 1 : 0;
  show_graph(index);
}

function show_graph(index) {
  report.shown = index;
  report.sections.forEach((section, i) => { section.hidden = i !== index; });
  document.querySelectorAll("#graphs a").forEach((link, i) => {
    if (i === index) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  highlight(null);
  build_graph(index);
}

function build_graph(index) {
  if (report.built[index]) return;
  report.built[index] = true;
  fill_graph(report.sections[index], report.graphs[index], index);
}

// The theme is the system's until the button is pressed. All colours hang on data-theme, which is always set.
function choose_theme() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    const dark = chosen === null ? system.matches : chosen;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme !== "dark";
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

// On paper all graphs follow each other, with their drawings as a whole.
function print_everything() {
  const prepare = () => {
    report.sections.forEach((section, index) => {
      section.hidden = false;
      build_graph(index);
    });
    drawn_to_width.forEach(chart => chart.on_paper());
    report_views.forEach(view => view.for_print());
  };
  const restore = () => {
    drawn_to_width.forEach(chart => chart.on_screen());
    show_graph(report.shown);
  };
  window.addEventListener("beforeprint", prepare);
  window.addEventListener("afterprint", restore);
  matchMedia("print").addEventListener("change", event => (event.matches ? prepare() : restore()));
}

document.addEventListener("DOMContentLoaded", open_report);
