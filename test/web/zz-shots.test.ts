import { join } from "node:path";
import { startBrowser } from "/work/h-edit/test/support/browser-program.ts";
import { EmbeddedInstallation } from "/work/h-edit/test/support/embedded.ts";
import { ProcessWorld } from "/work/h-edit/test/support/processes.ts";
describe("shots", function () {
  this.timeout(120_000);
  it("takes", async () => {
    const world = await ProcessWorld.create();
    const installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "node"));
    await installation.agent("one");
    const browser = await startBrowser();
    try {
      const { token } = (await installation.call("POST", "/users/me/tokens", { name: "p" })).body.detail;
      const pipelineId = await installation.pipeline("release", [{ name: "build", steps: [{ name: "x", uses: "shell", args: { script: "echo 1" } }] }, { name: "gpu", agentSelector: { matchLabels: { gpu: "yes" } }, steps: [{ name: "x", uses: "shell", env: { A: "${{ secrets.token }}" }, args: { script: "echo 1" } }] }]);
      for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 360]] as const) {
        const context = await browser.newContext({ viewport: { width, height: 800 }, baseURL: `http://${installation.node.http}`, colorScheme: scheme });
        const page = await context.newPage();
        page.setDefaultTimeout(8000);
        const shot = (n: string) => page.screenshot({ path: `/tmp/h-edit-${n}-${scheme}-${width}.png` });
        await page.goto(`/login?next=/pipelines/${pipelineId}/edit`);
        await page.getByText("Log in with a token").click();
        if (width === 1280 || width === 360) await shot("login");
        await page.fill("[name=token]", token);
        await page.keyboard.press("Enter");
        await page.waitForURL("**/edit");
        await page.waitForTimeout(1500);
        await shot("edit");
        await page.locator(".cm-content").click();
        await page.keyboard.press("Control+End");
        await page.keyboard.type("\n    tiemout: 3s\n    re");
        await page.waitForTimeout(900);
        await shot("edit2");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+s");
        await page.waitForTimeout(300);
        await shot("save");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Mark changes" }).click();
        await page.waitForTimeout(300);
        await shot("marks");
        await page.getByRole("button", { name: "History" }).click();
        await page.waitForTimeout(500);
        await shot("history");
        await page.keyboard.press("Escape");
        page.on("dialog", (d) => void d.accept());
        await page.goto(`/pipelines/${pipelineId}/trigger`);
        await page.waitForTimeout(900);
        await shot("trigger");
        await context.close();
      }
    } finally { await browser.close(); await world.end(); }
  });
});
