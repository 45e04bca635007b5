/** The whole page: it asks who the reader is, and then shows the frame around the page of the address. */
import { LocationProvider } from "preact-iso";
import { useEffect } from "preact/hooks";
import { returnFromLogin } from "../api/expiry.ts";
import { useResource } from "../api/resource.ts";
import { Loading } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
import { Toasts } from "../parts/toast.tsx";
import styles from "./app.module.css";
import { Routes } from "./routes.tsx";
import { loadSession, session } from "./session.ts";
import { Shell } from "./shell.tsx";

/** Addresses that the server answers itself. */
const OWN_PAGES = /^\/(?!(api|login|logout|device|invitation|reset)(\/|\?|$))/;

export function App() {
  useEffect(returnFromLogin, []);
  const { error, reload } = useResource(loadSession, []);
  return (
    <LocationProvider scope={OWN_PAGES}>
      {session.value === undefined ? (
        <main class={styles["start"]}>
          {error === undefined ? <Loading /> : <Problem error={error} onRetry={reload} />}
        </main>
      ) : (
        <Shell>
          <Routes />
        </Shell>
      )}
      <Toasts />
    </LocationProvider>
  );
}
