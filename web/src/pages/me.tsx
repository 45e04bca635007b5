/** The reader's account: sessions, tokens, theme, and the way out. */
import { useState } from "preact/hooks";
import { logOut, session } from "../app/session.ts";
import { chooseTheme, type Theme, theme } from "../app/theme.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Chips } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import styles from "./forms.module.css";

const texts = words.me;
const ME = { userId: "me" };
const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", words.theme.system],
  ["light", words.theme.light],
  ["dark", words.theme.dark],
];
const LIFETIMES = ["7d", "30d", "90d", "365d"];

export function MePage() {
  const user = session.value?.user;
  const sessions = useResource((signal) => api.get("/users/{userId}/sessions", { path: ME, signal }), []);
  const tokens = useResource((signal) => api.get("/users/{userId}/tokens", { path: ME, signal }), []);
  const [isMaking, setMaking] = useState(false);
  const end = async ({ sessionId }: Schemas["Session"]) => {
    await api.delete("/users/{userId}/sessions/{sessionId}", { path: { ...ME, sessionId } });
    tell(texts.ended);
    sessions.reload();
  };
  const remove = async ({ tokenId }: Schemas["Token"]) => {
    await api.delete("/users/{userId}/tokens/{tokenId}", { path: { ...ME, tokenId } });
    tell(texts.removed);
    tokens.reload();
  };
  return (
    <Page
      title={user?.name ?? texts.title}
      about={user?.role === null || user === undefined ? undefined : `${texts.role}: ${user.role}`}
      actions={
        <>
          <ButtonLink href="/device">{texts.device}</ButtonLink>
          <Button onClick={logOut}>{texts.logOut}</Button>
        </>
      }
    >
      <Section title={texts.theme}>
        <div class={styles["row"]}>
          <Chips
            label={texts.theme}
            options={THEMES}
            value={theme.value}
            onChange={(word) => chooseTheme(THEMES.find(([one]) => one === word)?.[0] ?? "system")}
          />
        </div>
      </Section>
      <Section title={texts.sessions}>
        <Loaded of={sessions} rows={2}>
          {({ list }) => (
            <Table
              label={texts.sessions}
              rows={list.toReversed()}
              keyOf={({ sessionId }) => sessionId}
              columns={[
                {
                  name: texts.where,
                  cell: ({ kind, userAgent, address, current }) => (
                    <>
                      {texts.kinds[kind]}
                      {current ? ` (${texts.thisOne})` : null}
                      <Under>{[address, userAgent].filter((text) => text !== "").join(" · ")}</Under>
                    </>
                  ),
                },
                {
                  name: texts.lastUsed,
                  width: "110px",
                  needs: "wide",
                  align: "end",
                  cell: (one) => <Ago at={one.lastUsedAt} />,
                },
                {
                  name: texts.expires,
                  width: "110px",
                  needs: "medium",
                  align: "end",
                  cell: (one) => <Ago at={one.expiresAt} />,
                },
                {
                  name: texts.end,
                  isQuiet: true,
                  width: "84px",
                  align: "end",
                  cell: (one) => (one.current ? null : <Button onClick={() => end(one)}>{texts.end}</Button>),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title={texts.tokens} aside={<Button onClick={() => setMaking(true)}>{texts.newToken}</Button>}>
        <Loaded of={tokens} rows={2}>
          {({ list }) =>
            list.length === 0 ? (
              <p class={styles["quiet"]}>{texts.noTokens}</p>
            ) : (
              <Table
                label={texts.tokens}
                rows={list}
                keyOf={({ tokenId }) => tokenId}
                columns={[
                  {
                    name: texts.tokenName,
                    cell: ({ name, scopes }) => (
                      <>
                        {name}
                        <Under>{scopes.join(", ")}</Under>
                      </>
                    ),
                  },
                  {
                    name: texts.lastUsed,
                    width: "110px",
                    needs: "wide",
                    align: "end",
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? texts.never : <Ago at={lastUsedAt} />),
                  },
                  {
                    name: texts.expires,
                    width: "110px",
                    align: "end",
                    cell: ({ expiresAt }) => (expiresAt === null ? texts.never : <Ago at={expiresAt} />),
                  },
                  {
                    name: texts.remove,
                    isQuiet: true,
                    width: "92px",
                    align: "end",
                    cell: (token) => <Button onClick={() => remove(token)}>{texts.remove}</Button>,
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Section>
      {isMaking ? <NewToken onClose={() => setMaking(false)} onMade={tokens.reload} /> : null}
    </Page>
  );
}

function NewToken({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const [name, setName] = useState("");
  const [expiresIn, setExpiresIn] = useState("90d");
  const [made, setMade] = useState<string | undefined>(undefined);
  const create = async () => {
    const { token } = await api.post("/users/{userId}/tokens", { path: ME, body: { name: name.trim(), expiresIn } });
    setMade(token);
    onMade();
  };
  const actions =
    made === undefined ? (
      <Button kind="primary" disabled={name.trim() === ""} onClick={create}>
        {texts.create}
      </Button>
    ) : (
      <Button onClick={() => navigator.clipboard.writeText(made).then(() => tell(words.actions.copied))}>
        {words.actions.copy}
      </Button>
    );
  return (
    <Dialog title={texts.newToken} onClose={onClose} actions={actions}>
      {made === undefined ? (
        <div class={styles["form"]}>
          <label class={styles["field"]}>
            {texts.tokenName}
            <input value={name} autoFocus onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label class={styles["field"]}>
            {texts.lasts}
            <select value={expiresIn} onChange={(event) => setExpiresIn(event.currentTarget.value)}>
              {LIFETIMES.map((days) => (
                <option key={days} value={days}>
                  {days}
                </option>
              ))}
            </select>
          </label>
        </div>
      ) : (
        <>
          <p class={styles["lead"]}>{texts.shownOnce}</p>
          <code class={styles["secret"]}>{made}</code>
        </>
      )}
    </Dialog>
  );
}
