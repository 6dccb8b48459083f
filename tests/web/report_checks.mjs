// What the tests of a report's page share: checks that count themselves, and the figures of `explain` against the page's.
import assert from "node:assert/strict";

export const passed = { checks: 0 };
export const check = (actual, expected, what) => { assert.deepEqual(actual, expected, what); ++passed.checks; };
export const holds = (truth, what) => { assert.ok(truth, what); ++passed.checks; };
export const near = (actual, expected, slack, what) => holds(Math.abs(actual - expected) <= slack, `${what}: ${actual}, expected ${expected}`);
export const time = x => x.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
export const size = x => x.toLocaleString("en-US", { maximumFractionDigits: 0 });
export const figure = text => Number(text.replaceAll(",", ""));
export const fallbacks = told => told.kernels.flatMap((kernel, k) => (kernel.bound === "fallback" ? [k] : []));
export const sum = list => list.reduce((a, b) => a + b, 0);

export const loaded = page => page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
export const texts = (page, selector) => page.locator(selector).allTextContents();
export const numbers = (page, selector, name) => page.locator(selector).evaluateAll((list, name) => list.map(element => Number(element.getAttribute(name))), name);
export const ks = (page, selector) => page.locator(selector).evaluateAll(list => [...new Set(list.map(element => Number(element.getAttribute("data-k"))))].sort((a, b) => a - b));
export const plan = number => `.graph:not([hidden]) .plan:nth-of-type(${number})`;
export const table = async (page, where) => page.locator(`${where} .table tbody tr`).evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.textContent)));
export const figures = async (page, where) => Object.fromEntries(await page.locator(`${where} .figures > div`).evaluateAll(list => list.map(one => [one.children[0].textContent, one.children[1].textContent])));

// The page's policy allows no eval, which Playwright's own waitForFunction needs.
export async function until(page, truth, argument) {
  for (let tries = 0; tries < 100; ++tries) {
    if (await page.evaluate(truth, argument)) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never: ${truth}`);
}

// How long frames take while something goes on, in milliseconds. `act` is source.
export const frames = (page, act, count) => page.evaluate(`(async () => {
  const act = ${act}, count = ${count}, taken = [];
  let last = performance.now();
  for (let i = 0; i < count; ++i) {
    act(i);
    await new Promise(requestAnimationFrame);
    taken.push(performance.now() - last);
    last = performance.now();
  }
  taken.sort((a, b) => a - b);
  return taken[count >> 1].toFixed(1) + " ms (95 %: " + taken[Math.floor(count * 0.95)].toFixed(1) + " ms)";
})()`);

// What `explain` says of each kernel must stand in the table, and be drawn to scale.
export async function compare_figures(page, where, told, family) {
  const walk = family === "walk", rows = await table(page, where);
  check(rows.length, told.kernels.length, "a row a kernel");
  const expected = told.kernels.map(kernel => (walk
    ? [size(kernel.load_bytes), size(kernel.store_bytes), time(kernel.compute_cycles), time(kernel.memory_cycles), time(kernel.latency), kernel.bound, size(kernel.working_set)]
    : [size(kernel.loaded), size(kernel.stored), time(kernel.compute), time(kernel.memory), time(kernel.latency), kernel.bound, size(kernel.working_set)]));
  const columns = await texts(page, `${where} .table thead th`);
  const wanted = ["loaded", "stored", "compute", "memory", "latency", "bound", "working set"].map(name => columns.indexOf(name));
  check(rows.map(row => wanted.map(column => row[column])), expected, "the figures of explain");
  const total = await page.locator(`${where} .table tfoot tr`).evaluate(row => [...row.cells].map(cell => cell.textContent));
  const totals = told.totals;
  check(wanted.filter((_, i) => i !== 5).map(column => total[column]), (walk
    ? [size(totals.load_bytes), size(totals.store_bytes), time(totals.compute_cycles), time(totals.memory_cycles)]
    : [size(totals.loaded), size(totals.stored), time(totals.compute), time(totals.memory)]).concat(time(totals.latency), size(totals.largest_working_set)), "its totals");
  check((await figures(page, where)).Latency, time(totals.latency));

  // The timeline: pixels per time unit from the whole; every start is the sum of the latencies before.
  const x = await numbers(page, `${where} .slot`, "x"), widths = await numbers(page, `${where} .slot`, "width");
  const scale = (x[x.length - 1] + widths[widths.length - 1]) / totals.latency;
  let start = 0, worst = 0;
  told.kernels.forEach((kernel, k) => {
    worst = Math.max(worst, Math.abs(x[k] - scale * start), Math.abs(widths[k] - scale * kernel.latency));
    start += kernel.latency;
  });
  near(worst, 0, 0.05, "places on the timeline, in pixels");
  const work = await numbers(page, `${where} .work`, "width");
  near(Math.max(...told.kernels.map((kernel, k) => Math.max(Math.abs(work[2 * k] - scale * (walk ? kernel.compute_cycles : kernel.compute)),
    Math.abs(work[2 * k + 1] - scale * (walk ? kernel.memory_cycles : kernel.memory))))), 0, 0.05, "bars of compute and memory");

  // The roofline: its ticks say what a pixel means.
  const ticks = await page.locator(`${where} .roofline .axis`).first().locator(".tick").evaluateAll(list => list.map(tick => [Number(tick.textContent), Number(/translate\(([\d.]+)/.exec(tick.getAttribute("transform"))[1])]));
  const [[a, xa], [b, xb]] = [ticks[0], ticks[ticks.length - 1]];
  const points = await page.locator(`${where} .point`).evaluateAll(list => list.map(point => [Number(point.getAttribute("data-k")), Number(point.getAttribute("cx"))]));
  check(points.length, told.kernels.length, "a point a kernel");
  for (const [k, cx] of points) {
    const kernel = told.kernels[k], moved = walk ? kernel.load_bytes + kernel.store_bytes : kernel.loaded + kernel.stored, computed = walk ? kernel.compute_cycles : kernel.compute;
    if (moved > 0 && computed > 0) assert.ok(Math.abs(Math.log(a) + (cx - xa) / (xb - xa) * Math.log(b / a) - Math.log(computed / moved)) < 0.01, `kernel ${k} on the roofline`);
  }
  ++passed.checks;
}
