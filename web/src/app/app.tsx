/** The whole page: it asks who the reader is, and then shows the frame around the page of the address. */
import { LocationProvider } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { returnFromLogin } from "../api/expiry.ts";
import { Problem } from "../parts/problem.tsx";
import { Toasts } from "../parts/toast.tsx";
import { Routes } from "./routes.tsx";
import { loadSession, session } from "./session.ts";
import { Shell } from "./shell.tsx";

/** Addresses that the server answers itself. */
const OWN_PAGES = /^\/(?!(api|login|logout|device|invitation|reset)(\/|\?|$))/;

export function App() {
  const [error, setError] = useState<unknown>(undefined);
  const load = () => {
    setError(undefined);
    loadSession().catch(setError);
  };
  useEffect(() => {
    returnFromLogin();
    load();
  }, []);
  return (
    <LocationProvider scope={OWN_PAGES}>
      {session.value === undefined ? (
        error === undefined ? null : (
          <main>
            <Problem error={error} onRetry={load} />
          </main>
        )
      ) : (
        <Shell>
          <Routes />
        </Shell>
      )}
      <Toasts />
    </LocationProvider>
  );
}
