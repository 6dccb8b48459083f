// The pages of `fuselage report` in Chromium, against `fuselage explain`. Usage: node report_test.mjs FUSELAGE [SCREENSHOTS]
import { chromium } from "playwright-core";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { passed, check, holds, near, fallbacks, time, size, figure, sum, loaded, texts, numbers, ks, plan, table, figures, until, frames, compare_figures } from "./report_checks.mjs";

const [command, shots = "screenshots"] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "fuselage-report-"));
const at = name => join(folder, name);
const run = (...args) => execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const search = (target, out, ...more) => run("search", target, "--out", at(out), "--no-store", "--quiet", ...more);
const explain = (plan, ...more) => JSON.parse(run("explain", at(plan), "--json", ...more));
const report = (out, ...args) => { run("report", ...args, "--out", at(out)); return at(out); };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];
async function open(file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  page.on("console", message => { if (message.type() === "error") problems.push(message.text()); });
  page.on("pageerror", error => problems.push(String(error)));
  page.on("dialog", dialog => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", request => { if (!/^(file|data):/.test(request.url())) problems.push(request.url()); });
  await page.goto(`file://${file}`);
  await page.waitForSelector(".graph:not([hidden]) .plan");
  return page;
}
async function five_tasks() {
  search("all", "tasks", "--rules", "seed-honest");
  const names = ["task1_chain", "task2_residual", "task3_attention", "task4_mixed", "task5_adversarial"];
  const plans = names.map(name => at(`tasks/${name}.json`));
  const file = report("tasks.html", ...plans, "--greedy");
  check(readFileSync(report("again.html", ...plans, "--greedy")).equals(readFileSync(file)), true, "same plans, same bytes");
  const bytes = statSync(file).size;
  holds(bytes < 2e6, `${bytes} bytes, less than 2 MB`);
  const page = await open(file);
  const taken = await loaded(page);
  console.log(`five tasks: ${size(bytes)} bytes, loaded in ${taken.toFixed(0)} ms`);
  holds(taken < 1000, `loaded in ${taken} ms`);
  check(await texts(page, "#graphs a"), names);
  for (let i = 0; i < names.length; ++i) {
    await page.click(`#graphs li:nth-child(${i + 1}) a`);
    await page.waitForSelector(`#graph-${i + 1}:not([hidden])`);
    await compare_figures(page, plan(1), explain(`tasks/${names[i]}.json`), "walk");
  }
  const saved = JSON.parse(readFileSync(at("tasks/task5_adversarial.json"), "utf8")), said = await figures(page, plan(1));
  check([said["Lower bound"], said.Proof, said["Greedy, as scored"], said.Naive], [time(saved.lower_bound), saved.proof, time(saved.greedy_latency), time(saved.naive_latency)]);
  holds(page.url().endsWith("#graph-5"), "the hash says which graph is shown");
  await page.reload();
  check(await page.locator("#graph-5").isVisible() && await page.locator("#graph-1").isHidden(), true, "a reload comes back to it");
  check(await page.locator("#graph-1 .plan").count(), 0, "and builds nothing else");

  // On paper: all graphs, no controls, black on white whatever the theme.
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await until(page, () => document.querySelectorAll(".graph:not([hidden]) .plan").length === 10);
  check(await page.locator(".plan .chart").count(), 20, "two charts of each plan");
  check(await page.locator(".buttons:visible, #theme:visible, nav:visible").count(), 0, "no controls on paper");
  check(await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]), ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
  await page.setViewportSize({ width: 760, height: 1000 });
  const cut = await page.locator(".scroll").evaluateAll(list => list.filter(one => getComputedStyle(one).maxHeight !== "none").length);
  check(cut, 0, "no table is cut");
  await page.screenshot({ path: `${shots}/report_print.png`, clip: { x: 0, y: 0, width: 760, height: 2600 }, fullPage: true });
  await page.emulateMedia({ media: "screen" });
  await until(page, () => document.querySelectorAll(".graph:not([hidden])").length === 1);
  await page.close();
}

async function two_plans() {
  search("task4_mixed", "best.json", "--log", at("search.jsonl"));
  search("task4_mixed", "greedy.json", "--engine", "greedy");
  const file = report("compare.html", at("best.json"), at("greedy.json"), "--log", at("search.jsonl"));
  const best = explain("best.json"), greedy = explain("greedy.json");
  const page = await open(file, { colorScheme: "light" });
  await page.screenshot({ path: `${shots}/report_light.png`, fullPage: true });
  await compare_figures(page, plan(2), greedy, "walk");
  await figures_are_explained(page, greedy);
  await memory_is_right(page, best);
  await points_are_named(page, [best, greedy]);
  await worths_add_up(page, best, greedy);
  await views_are_linked(page, best, greedy);
  await page.screenshot({ path: `${shots}/report_compare.png` });
  await kernels_fold(page);
  await keys_work(page, best);
  await keys_work_from_nowhere(page, best);
  await tables_sort(page, best);
  await charts_zoom(page);
  await log_is_shown(page);
  await themes_change(page);
  await page.screenshot({ path: `${shots}/report_dark.png`, fullPage: true });
  await page.setViewportSize({ width: 400, height: 800 });
  await page.waitForTimeout(200);
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "a narrow page needs no scrolling sideways");
  await page.screenshot({ path: `${shots}/report_narrow.png` });
  await page.close();
}

// Greedy's two figures, the bound that the plans share, and kernels that don't fit.
async function figures_are_explained(page, greedy) {
  const saved = JSON.parse(readFileSync(at("best.json"), "utf8")), said = await figures(page, plan(2)), over = fallbacks(greedy);
  check([said["Greedy, as scored"], said["Lower bound"], said.Proof, said.Latency], [time(saved.greedy_latency), time(saved.lower_bound), "none", time(greedy.totals.latency)]);
  holds(greedy.totals.latency > saved.greedy_latency && (await page.locator(".pair .note").textContent()).includes("its own greedy figure"), "why greedy's two figures differ");
  const words = await page.locator(`${plan(2)} .figures > div`).evaluateAll(list => list.map(one => one.textContent));
  const above = 100 * (greedy.totals.latency / saved.lower_bound - 1);
  holds(words.some(word => word.includes(`${above.toFixed(1)} % above it`)), "how far above the bound");
  check(await page.locator(".word").evaluateAll(list => list.filter(word => word.scrollWidth > word.clientWidth).length), 0, "no word is cut");
  holds(over.length > 0, "greedy has kernels that don't fit");
  const note = `over capacity: does not fit, so its ops run one by one (${over.slice(0, 6).map(k => `k${k}`).join(", ")})`;
  check(await texts(page, ".word.over"), [note]);
  check(await texts(page, ".note.over"), [`${note}.`]);
  await page.hover(`${plan(2)} .table tbody tr[data-k="${over[0]}"]`);
  holds((await page.locator("#details").textContent()).includes("over capacity: does not fit"), "the hover line says it too");
  await page.hover("h1");
}

// Each kernel's number once beside the points, and none on the roof.
async function points_are_named(page, plans) {
  for (const [i, { kernels }] of plans.entries()) {
    const names = (await texts(page, `${plan(i + 1)} .names text`)).join().replaceAll("k", "").split(",");
    const ids = names.flatMap(part => { const [a, b = a] = part.split("-").map(Number); return Array.from({ length: b - a + 1 }, (_, n) => a + n); });
    check(ids.sort((a, b) => a - b), kernels.map((_, k) => k), "each point has one name");
    check(await page.locator(`${plan(i + 1)} .roofline svg`).evaluate(picture => {
      const roof = picture.querySelector(".roof"), boxes = Array.from(picture.querySelectorAll(".names text"), text => text.getBBox());
      const on = p => boxes.some(box => p.x > box.x && p.x < box.x + box.width && p.y > box.y + 2 && p.y < box.y + box.height - 2);
      return Array.from({ length: Math.floor(roof.getTotalLength()) }, (_, at) => roof.getPointAtLength(at)).filter(on).length;
    }), 0, "names keep clear of the roof");
  }
}

async function table_fits(page) {
  const [wide, room] = await page.locator(`${plan(1)} .table .scroll`).evaluate(frame => [frame.scrollWidth, frame.clientWidth]);
  holds(wide <= room, `all columns of a plan at 1,400 pixels: ${wide} in ${room}`);
}

async function memory_is_right(page, best) {
  const held = new Set(best.kernels.flatMap(kernel => kernel.resident_after));
  check(await page.locator(`${plan(1)} .tensor`).evaluateAll(list => [...new Set(list.map(one => Number(one.dataset.tensor)))].sort((a, b) => a - b)), [...held].sort((a, b) => a - b), "who holds fast memory");
  // Heights: bytes of the tiles and tensors of a kernel make up its working set, on the scale of the capacity line.
  const [capacity, zero] = await page.locator(`${plan(1)} .time`).evaluate(view => {
    const line = view.querySelector(".capacity line"), tiles = [...view.querySelectorAll(".tiles")].map(one => Number(one.getAttribute("y")) + Number(one.getAttribute("height")));
    return [Number(line.getAttribute("y1")), Math.max(...tiles)];
  });
  const tops = await numbers(page, `${plan(1)} .tiles`, "y");
  const worst = Math.max(...best.kernels.map((kernel, k) => Math.abs((zero - tops[k]) / (zero - capacity) - kernel.working_set_share)));
  near(worst, 0, 0.002, "working sets against the capacity line");
}

async function worths_add_up(page, best, greedy) {
  const difference = greedy.totals.latency - best.totals.latency;
  const worths = (await texts(page, ".pair tbody td.n")).map(figure);
  holds(worths.length > 1, "several stretches differ");
  near(sum(worths), difference, 0.01 * worths.length, "worths");
  near(figure(await page.locator(".pair tfoot td.n").textContent()), difference, 0.01, "their sum");
  holds((await page.locator(".pair h3").textContent()).includes(`${time(difference)} cycles slower`), "the headline says it");
}

async function views_are_linked(page, best, greedy) {
  const k = best.kernels.findIndex(kernel => kernel.nodes.length > 2), ops = new Set(best.kernels[k].nodes);
  await page.hover(`${plan(1)} .table tbody tr[data-k="${k}"]`);
  check(await ks(page, `${plan(1)} .area.hot, ${plan(1)} .point.hot, ${plan(1)} tr.hot`), [k]);
  check(await page.locator(`${plan(1)} .area.hot, ${plan(1)} .point.hot, ${plan(1)} tr.hot, ${plan(1)} .band.hot`).count(), 4, "in all four views");
  const sharing = greedy.kernels.flatMap((kernel, i) => (kernel.nodes.some(node => ops.has(node)) ? [i] : []));
  check(await ks(page, `${plan(2)} .area.warm`), sharing, "kernels of the other plan that share ops");
  check(await page.locator(`${plan(2)} .band.warm`).count(), sharing.length);
  holds((await page.locator("#details").textContent()).includes(`latency ${time(best.kernels[k].latency)} cycles`), "details below");
  check(await page.locator("#spoken").textContent(), "", "and nothing is said aloud");
  await page.hover("h1");
  check(await page.locator(".hot, .warm").count(), 0);
  await page.locator(`${plan(2)} .slot`).nth(1).hover();
  check(await ks(page, `${plan(2)} .hot[data-k]`), [1], "from the timeline too");
  await page.hover(".pair tbody tr >> nth=0");
  const [here, there] = [await ks(page, `${plan(2)} .area.hot`), await ks(page, `${plan(1)} .area.hot`)];
  const nodes = (told, kernels) => kernels.flatMap(i => told.kernels[i].nodes).sort((a, b) => a - b);
  check(nodes(greedy, here), nodes(best, there), "a stretch has the same ops in both plans");
}

async function kernels_fold(page) {
  const head = page.locator(`${plan(1)} .head[data-k="3"]`), cover = page.locator(`${plan(1)} .cover[data-k="3"]`);
  await head.click();
  check([await cover.isVisible(), await head.getAttribute("aria-expanded")], [true, "false"], "folded in place");
  await page.screenshot({ path: `${shots}/report_folded.png` });
  await cover.click();
  check([await cover.isVisible(), await head.getAttribute("aria-expanded")], [false, "true"]);
  await head.focus();
  await page.keyboard.press("Enter");
  check(await head.getAttribute("aria-expanded"), "false", "by keyboard too");
  await page.click(`${plan(1)} button:has-text("Overview")`);
  check([await page.locator(`${plan(1)} .box`).count() > 3, await page.locator(`${plan(1)} .detail`).isVisible()], [true, false], "the overview");
  await page.locator(`${plan(1)} .box`).nth(2).click();
  check([await page.locator(`${plan(1)} .detail`).isVisible(), await page.evaluate(() => document.activeElement.getAttribute("data-k"))], [true, "2"], "opens the kernel that is clicked");
  await page.click(`${plan(1)} button:has-text("All ops")`);
  check(await head.getAttribute("aria-expanded"), "true", "all are open");
}

async function keys_work(page, best) {
  await page.locator(`${plan(1)} .slot`).first().focus();
  await page.keyboard.press("ArrowRight");
  check(await page.evaluate(() => document.activeElement.getAttribute("data-k")), "1", "arrows go from kernel to kernel");
  holds((await page.locator("#spoken").textContent()).includes(time(best.kernels[1].latency)), "who has the focus is said aloud");
  check(await ks(page, `${plan(1)} .hot[data-k]`), [1]);
  await page.keyboard.press("End");
  check(await ks(page, `${plan(1)} .hot[data-k]`), [best.kernels.length - 1]);
  check(await page.locator(`${plan(1)} .slot[tabindex="0"]`).count(), 1, "one stop for Tab a view");
  const named = await page.locator("svg [role]:not([aria-label]), .plan:not([aria-labelledby]), table:not(:has(caption))").count();
  check(named, 0, "every drawing and table has a name");
}

// With nothing focused the arrows begin at the kernel pointed at, or at kernel 0; all else keeps its keys.
async function keys_work_from_nowhere(page, best) {
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("data-k"));
  const lit = () => ks(page, `${plan(1)} .hot[data-k]`);
  await page.keyboard.press("Escape");
  await page.hover("h1");
  check([await focused(), await lit()], [null, []], "Escape clears");
  await page.keyboard.press("ArrowRight");
  check([await focused(), await lit()], ["0", [0]], "without a kernel, the first");
  await page.keyboard.press("Escape");
  check(await page.locator(".hot, .warm, #details.shown").count(), 0, "Escape clears it again");
  await page.hover(`${plan(1)} .table tbody tr[data-k="3"]`);
  await page.keyboard.press("ArrowRight");
  check([await focused(), await page.evaluate(() => document.activeElement.tagName)], ["4", "TR"], "the next after the one pointed at, where it is pointed at");
  await page.keyboard.press("ArrowLeft");
  check(await focused(), "3", "and on from there");
  await page.keyboard.press("Escape");
  check(await page.locator(".hot, .warm").count(), 0, "Escape clears what is pointed at");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+ArrowRight");
  check(await focused(), null, "up, down and modified keys are the page's");
  await page.focus("#theme");
  await page.keyboard.press("ArrowRight");
  check(await page.evaluate(() => document.activeElement.id), "theme", "a button keeps its keys");
  await page.click(`${plan(1)} .drawing button:has-text("Fit")`);
  await page.locator(`${plan(1)} .op`).first().click();
  check(await page.evaluate(() => document.activeElement.matches("svg, body")), true, "a click focuses no group of the drawing, which would be outlined");
  await page.keyboard.press("Escape");
}

async function tables_sort(page, best) {
  const latencies = () => page.locator(`${plan(1)} .table tbody tr`).evaluateAll(rows => rows.map(row => Number(row.getAttribute("data-k"))));
  const header = page.locator(`${plan(1)} .table thead button:text-is("latency")`);
  await header.click();
  await header.click();
  const order = best.kernels.map((_, k) => k).sort((a, b) => best.kernels[b].latency - best.kernels[a].latency || a - b);
  check(await latencies(), order, "by latency, the longest first");
  check(await page.locator(`${plan(1)} .table th[aria-sort="descending"]`).textContent(), "latency");
}

async function charts_zoom(page) {
  const picture = page.locator(`${plan(2)} .canvas`), scale = () => picture.evaluate(element => d3.zoomTransform(element).k);
  await page.evaluate(() => document.activeElement.blur());
  await picture.scrollIntoViewIfNeeded();
  await picture.hover({ position: { x: 20, y: 20 } });
  const before = await scale(), top = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 40);
  await until(page, top => scrollY !== top, top);
  check(await scale(), before, "the wheel alone scrolls the page");
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await until(page, ([before]) => d3.zoomTransform(document.querySelectorAll(".canvas")[1]).k > before, [before]);
  await page.click(`${plan(2)} .drawing button:has-text("Fit")`);
  near(await scale(), before, 1e-9, "Fit shows all of it again");
  const last = () => page.locator(`${plan(2)} .time .axis .tick`).last().textContent();
  const whole = await last();
  await page.click(`${plan(2)} .time button:has-text("+")`);
  holds(await last() !== whole, "the axis of time goes with the zoom");
  await page.click(`${plan(2)} .time button:has-text("All")`);
  check(await last(), whole);
  await page.locator(`${plan(2)} .strip`).evaluate(strip => strip.scrollIntoView({ block: "center" }));
  const strip = await page.locator(`${plan(2)} .strip .overlay`).boundingBox();
  const handle = await page.locator(`${plan(2)} .strip .handle--w`).boundingBox();
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width / 2, strip.y + 8, { steps: 4 });
  await page.mouse.up();
  near(await page.locator(`${plan(2)} .time [clip-path]`).evaluate(element => d3.zoomTransform(element).k), 2, 0.1, "half of the strip is twice the scale");
  await page.click(`${plan(2)} .time button:has-text("All")`);
}

async function log_is_shown(page) {
  const entries = readFileSync(at("search.jsonl"), "utf8").trim().split("\n").map(JSON.parse), last = entries[entries.length - 1];
  check(await page.locator(".search .chart").count(), 2, "over steps and over time");
  check(await texts(page, ".search .legend >> nth=0 >> b"), [time(last.incumbent), time(last.lower_bound)]);
  check(await page.locator(".search .chart >> nth=0 >> .dot.incumbent").count(), entries.length);
  check(await page.locator(".search h2").textContent(), `The search of task4_mixed by ${last.engine}`);
  check((await texts(page, ".search .chart text.start")), ["objective (cycles)", "objective (cycles)"]);
  check(await page.locator(".search .note").count(), 0, "its best is a plan shown");
}

// Plans that say less than is known, and the log of another search.
async function plans_of_less() {
  const best = JSON.parse(readFileSync(at("best.json"), "utf8"));
  writeFileSync(at("unproven.json"), JSON.stringify({ ...best, proof: "none", lower_bound: 0.9 * best.lower_bound }));
  const page = await open(report("unproven.html", at("unproven.json"), at("best.json")), { viewport: { width: 1400, height: 900 } });
  const said = await figures(page, plan(1));
  check([said.Proof, said["Lower bound"]], ["optimal", time(best.lower_bound)], "as fast as a proven optimum");
  await page.close();
  const other = await open(report("greedy.html", at("greedy.json"), "--log", at("search.jsonl")), { viewport: { width: 1400, height: 900 } });
  holds((await other.locator(".search .note").textContent()).includes(time(best.latency)), "a log whose plan isn't shown");
  holds((await texts(other, `${plan(1)} .note`)).some(note => note.includes("its own greedy figure")), "greedy alone is explained too");
  await table_fits(other);
  await other.setViewportSize({ width: 1400, height: 500 });
  const [frame, total] = await Promise.all([".scroll", "tfoot td:last-child"].map(part => other.locator(`${plan(1)} .table ${part}`).boundingBox()));
  holds(total.y > frame.y && total.y + total.height <= frame.y + frame.height + 1, "the totals are in sight, however long the table");
  await other.close();
}

async function themes_change(page) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(await paper(), "rgb(255, 255, 255)");
  await page.emulateMedia({ colorScheme: "dark" });
  await until(page, () => document.documentElement.dataset.theme === "dark");
  check(await paper(), "rgb(20, 23, 26)", "the system's dark");
  await page.click("#theme");
  check(await paper(), "rgb(255, 255, 255)", "the button's light");
  await page.click("#theme");
}

// Names are labels and nothing else.
async function hostile_names() {
  const graph = JSON.parse(run("generate", "--ops", "8", "--topology", "linear", "--seed", "5"));
  const names = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "x".repeat(10240), "\u202eשלום עולם", "</script><!--", "a\nb\tc", "日本語の名前", "&lt;b&gt;"];
  graph.nodes.forEach((node, i) => { node.name = names[i]; });
  graph.name = "<img src=x onerror=alert(3)> &lt; שלום";
  writeFileSync(at("names.json"), JSON.stringify(graph));
  run("search", at("names.json"), "--no-store", "--quiet", "--out", at("named.json"));
  const page = await open(report("names.html", at("named.json")), { viewport: { width: 1100, height: 950 } });
  check(await page.locator("img, main script").count(), 0, "no element comes from a name");
  check(await page.locator("h1").textContent(), graph.name);
  const labels = await texts(page, ".oplabel text.plain");
  holds(labels.some(label => /<scri.*script>/.test(label)) && labels.some(label => label.includes("\"'><im")), `names are text: ${labels}`);
  holds(labels.every(label => label.length < 40 && !/[\u202a-\u202e\n]/.test(label)), "labels are short, and reorder nothing");
  holds(labels.some(label => /^\u2068?x+…x+\u2069?$/.test(label)), "a long one keeps its tail");
  const [what] = await page.locator(`${plan(1)} .table tbody tr`).evaluateAll(rows => rows.map(row => row.cells[2].textContent));
  holds(what.includes("<script>alert(1)</script>"), "names in the table");
  await page.hover(`${plan(1)} .table tbody tr[data-k="0"]`);
  holds((await page.locator("#details").textContent()).includes("<script>alert(1)</script>"), "and in the hover line");
  const longest = Math.max(...(await texts(page, ".op title")).map(title => title.length));
  holds(longest > 200 && longest < 400, `a long name is cut in the title: ${longest}`);
  const outside = await page.locator(".op").evaluateAll(list => list.filter((op, i) => {
    const label = document.querySelectorAll(".oplabel")[i].getBoundingClientRect(), box = op.getBoundingClientRect();
    return label.left < box.left - 1 || label.right > box.right + 1;
  }).length);
  check(outside, 0, "labels stay in their boxes");
  await page.screenshot({ path: `${shots}/report_names.png`, fullPage: true });
  await page.close();
}

async function two_thousand_ops() {
  run("generate", "--ops", "2000", "--difficulty", "hard", "--seed", "3", "--out", at("large_graph.json"));
  search(at("large_graph.json"), "large.json", "--time", "10");
  const begun = Date.now(), file = report("large.html", at("large.json")), made = Date.now() - begun;
  const bytes = statSync(file).size, told = explain("large.json");
  holds(bytes < 8e6, `${bytes} bytes, less than 8 MB`);
  const page = await open(file);
  const taken = await loaded(page);
  check(await page.locator(".overview .box").count(), told.kernels.length, "the overview comes first");
  await compare_figures(page, plan(1), told, "walk");
  const scroll = await frames(page, "() => window.scrollBy(0, 25)", 60);
  await page.evaluate(() => scrollTo(0, 0));
  const wheel = "i => document.querySelector('.canvas').dispatchEvent(new WheelEvent('wheel', { deltaY: i % 20 < 10 ? -30 : 30, ctrlKey: true, bubbles: true, cancelable: true, clientX: 400, clientY: 500 }))";
  const zoom = await frames(page, wheel, 40);
  await page.screenshot({ path: `${shots}/report_large.png`, fullPage: true });
  await page.click("button:has-text('All ops')");
  check(await page.locator(".detail .op").count(), 2000);
  const detail = await frames(page, wheel, 40);
  console.log(`2,000 ops: ${size(bytes)} bytes, made in ${made} ms, loaded in ${taken.toFixed(0)} ms; frames: scrolling ${scroll}, zooming the overview ${zoom}, all ops ${detail}`);
  holds(taken < 5000, `loaded in ${taken} ms`);
  await page.screenshot({ path: `${shots}/report_large_ops.png` });
  await page.close();
}

async function grid_problem() {
  run("generate", "--family", "grid", "--kind", "transformer", "--ops", "40", "--seed", "7", "--out", at("problem.json"));
  run("search", at("problem.json"), "--no-store", "--quiet", "--time", "2", "--out", at("grid.json"));
  const told = explain("grid.json", "--problem", at("problem.json"));
  const page = await open(report("grid.html", at("grid.json"), "--problem", at("problem.json")), { viewport: { width: 1100, height: 950 } });
  await compare_figures(page, plan(1), told, "grid");
  holds((await page.locator(".about").textContent()).includes("elements of fast memory"), "in elements");
  await page.screenshot({ path: `${shots}/report_grid.png`, fullPage: true });
  await page.setViewportSize({ width: 1400, height: 900 });
  await table_fits(page);
  await page.close();

  // A plan that does not fit is shown up to its fault, and the exit code says so.
  const bad = JSON.parse(readFileSync(at("grid.json"), "utf8"));
  bad.granularities[2] = [1 << 14, 1 << 14, 1 << 14];
  writeFileSync(at("bad.json"), JSON.stringify(bad));
  const { status } = spawnSync(command, ["report", at("bad.json"), "--problem", at("problem.json"), "--out", at("bad.html")]);
  check(status, 1);
  const faulty = await open(at("bad.html"), { viewport: { width: 1100, height: 950 } });
  check(await texts(faulty, ".badge.illegal"), ["illegal"]);
  holds((await faulty.locator(".fault").textContent()).length > 20, "the fault in words");
  await faulty.screenshot({ path: `${shots}/report_illegal.png`, fullPage: true });
  await faulty.close();
}

try {
  for (const part of [five_tasks, two_plans, plans_of_less, hostile_names, two_thousand_ops, grid_problem]) await part();
  check(problems, [], "no error in the console, no dialog, no request");
  console.log(`${passed.checks} checks of reports passed; screenshots in ${shots}`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
