/** Follows a channel while a component is shown. */
import { useEffect, useRef } from "preact/hooks";
import { nameOf } from "./protocol.ts";
import { type LiveMessage, type LiveRequest, subscribe } from "./socket.ts";

/** Follows `request`; undefined follows nothing. The newest `onMessage` is called. */
export function useLive(request: LiveRequest | undefined, onMessage: (message: LiveMessage) => void): void {
  const listener = useRef(onMessage);
  listener.current = onMessage;
  useEffect(() => {
    if (request === undefined) return undefined;
    return subscribe(request, (message) => listener.current(message));
  }, [request === undefined ? "" : nameOf(request)]);
}
