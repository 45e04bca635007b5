/** Whether an installation still waits for the first login of its administrator, who has a token and no password. */
import type { IdentityContext } from "./context.ts";

export class FirstLogin {
  /** For good: users without passwords do not come back alone. Then no login page costs a look at the users. */
  #isOver = false;

  /** False from the second user on, and from the first password on. */
  async isDue({ stores }: Pick<IdentityContext, "stores">): Promise<boolean> {
    if (this.#isOver) return false;
    const users = await stores.identity.listUsers();
    this.#isOver = users.length > 1 || users.some(({ passwordHash }) => passwordHash !== "");
    return !this.#isOver && users.length === 1;
  }
}
