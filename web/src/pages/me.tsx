/** The reader's account: theme, sessions, tokens, notifications, and the way out. */
import { useState } from "preact/hooks";
import { logOut, session } from "../app/session.ts";
import { chooseTheme, type Theme, theme } from "../app/theme.ts";
import { api, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { browserText } from "../parts/browser-text.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { Chips } from "../parts/filters.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { NewTokenDialog, type TokenFields, TokenTable } from "../parts/tokens.tsx";
import { tell } from "../parts/toast.tsx";
import { words } from "../words.ts";
import { tokenWords } from "../parts/token-words.ts";
import { NotificationChoices } from "./notification-choices.tsx";
import styles from "./forms.module.css";

const texts = words.me;
const ME = { userId: "me" };
const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", words.theme.system],
  ["light", words.theme.light],
  ["dark", words.theme.dark],
];

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
    tell(tokenWords.removed);
    tokens.reload();
  };
  const create = async (body: TokenFields) => {
    const { token } = await api.post("/users/{userId}/tokens", { path: ME, body });
    tokens.reload();
    return token;
  };
  return (
    <Page
      title={user?.name ?? texts.title}
      about={user?.role === null || user === undefined ? undefined : texts.role(words.roles[user.role])}
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
                      <Under title={userAgent}>
                        {[browserText(userAgent), address].filter((text) => text !== "").join(" · ")}
                      </Under>
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
      <Section title={tokenWords.title} aside={<Button onClick={() => setMaking(true)}>{tokenWords.make}</Button>}>
        <Loaded of={tokens} rows={2}>
          {({ list }) =>
            list.length === 0 ? (
              <p class={styles["quiet"]}>{texts.noTokens}</p>
            ) : (
              <TokenTable list={list} onRemove={remove} />
            )
          }
        </Loaded>
      </Section>
      <NotificationChoices />
      {isMaking ? <NewTokenDialog onClose={() => setMaking(false)} onCreate={create} /> : null}
    </Page>
  );
}
