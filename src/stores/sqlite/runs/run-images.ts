/** The images of runs in SQLite. */
import type { RunImageStore } from "../../ports/outputs.ts";
import type { Database } from "../database.ts";

export function runImageStore(db: Database): RunImageStore {
  return {
    pin({ runId, image, digest }) {
      return db.transaction(() => {
        db.runNow("INSERT INTO run_images VALUES (?, ?, ?) ON CONFLICT DO NOTHING", runId, image, digest);
        const row = db.getNow("SELECT digest FROM run_images WHERE run_id = ? AND image = ?", runId, image);
        return row!["digest"] as string;
      });
    },
    async of(runId) {
      const rows = await db.all("SELECT image, digest FROM run_images WHERE run_id = ?", runId);
      return rows.map((row) => ({ runId, image: row["image"] as string, digest: row["digest"] as string }));
    },
  };
}
