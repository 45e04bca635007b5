/** The editor in a component. Its program is loaded when the component is shown. */
import { type RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type CodeEditor, type CodeEditorOptions, openCodeEditor } from "./code-mirror.ts";

export function useCodeEditor(
  options: Omit<CodeEditorOptions, "onChange"> & { readonly onChange: (text: string) => void },
): { readonly host: RefObject<HTMLDivElement | null>; readonly editor: RefObject<CodeEditor | null> } {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor>(null);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (host.current === null) return undefined;
    const opened = openCodeEditor(host.current, {
      ...latest.current,
      onChange: () => latest.current.onChange(opened.text()),
      onSave: () => latest.current.onSave(),
      onLeave: () => latest.current.onLeave(),
    });
    editor.current = opened;
    return () => {
      editor.current = null;
      opened.destroy();
    };
  }, []);
  return { host, editor };
}
