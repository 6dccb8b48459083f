// The page of `fuselage serve` in Chromium, as a person uses it. Usage: node page_test.mjs FUSELAGE [SCREENSHOTS]
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import assert from "node:assert/strict";

const [command, shots = "screenshots"] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });

const server = spawn(command, ["serve", "--port", "0", "--oracle"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve, reject) => {
  let text = "";
  server.stdout.on("data", piece => {
    text += piece;
    const found = text.match(/http:\S+/);
    if (found && text.includes("\n")) resolve(found[0]);
  });
  server.on("exit", code => reject(new Error(`the server ended with ${code}`)));
});

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let checks = 0;
const check = (actual, expected, what) => { assert.deepEqual(actual, expected, what); ++checks; };
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 950 } });
  const problems = [];
  page.on("console", message => { if (message.type() === "error") problems.push(message.text()); });
  page.on("pageerror", error => problems.push(String(error)));
  page.on("request", request => { if (!/^(http|ws):\/\/127\.0\.0\.1:/.test(request.url())) problems.push(request.url()); });
  await page.goto(url + "/web");
  await page.waitForSelector(".node.current");
  check(await page.locator("#task option").count(), 6, "five tasks and a random graph");

  await page.selectOption("#task", "task4_mixed");
  await page.click("#start");
  await page.waitForFunction(() => document.querySelectorAll(".node").length === 24);
  check(await page.locator(".node.current text.id").textContent(), "0");

  // A bad answer, and what the oracle says of it.
  await page.selectOption("#tile", "32");
  await page.click("#step");
  await page.waitForFunction(() => document.getElementById("node").textContent === "1");
  await page.selectOption("#tile", "32");
  await page.click("#oracle");
  await page.waitForSelector("#hint table");
  const hint = await page.locator("#hint").textContent();
  assert.match(hint, /best answer.*yours costs more by.*lost so far.*proven/); ++checks;
  await page.screenshot({ path: `${shots}/hint.png` });

  // From here on as the oracle says, to the end.
  for (let node = 1; node < 24; ++node) {
    await page.waitForFunction(n => document.querySelectorAll("#log tr").length === n, node);
    await page.click("#follow");
  }
  await page.waitForFunction(() => document.getElementById("figures").textContent.includes("score"));
  check(await page.locator("#log tr").count(), 24);
  assert.match(await page.locator("#figures").textContent(), /3,283,789\.1/, "the first steps lost nothing"); ++checks;
  check(await page.locator("#step").isDisabled(), true, "the episode is over");
  await page.screenshot({ path: `${shots}/end.png`, fullPage: true });

  // Following it from the start gets the optimum.
  await page.selectOption("#task", "task5_adversarial");
  await page.selectOption("#rules", "seed-honest");
  await page.click("#start");
  await page.waitForFunction(() => document.querySelectorAll(".node").length === 20);
  for (let node = 0; node < 20; ++node) {
    await page.waitForFunction(n => document.querySelectorAll("#log tr").length === n, node);
    await page.click("#follow");
  }
  await page.waitForFunction(() => document.getElementById("figures").textContent.includes("score"));
  assert.match(await page.locator("#figures").textContent(), /score0\.3560/); ++checks;

  // A random graph is drawn again by its seed; the dark page is a dark page.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.selectOption("#task", "random");
  await page.fill("#ops", "12");
  await page.click("#start");
  await page.waitForFunction(() => document.querySelectorAll(".node").length === 12);
  const first = await page.locator("#graph").innerHTML();
  await page.click("#start");
  await page.waitForTimeout(200);
  check(await page.locator("#graph").innerHTML(), first);
  check(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 23, 26)");
  await page.screenshot({ path: `${shots}/dark.png` });
  check(problems, [], "no error in the console, no request to another machine");
  console.log(`${checks} checks passed; screenshots in ${shots}`);
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill("SIGTERM");
}
