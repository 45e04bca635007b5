/** The saved filters of a list: links, and a button that saves the filter that is shown. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import bookmark from "lucide-static/icons/bookmark.svg?raw";
import close from "lucide-static/icons/x.svg?raw";
import { Button } from "../parts/button.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { words } from "../words.ts";
import { filterText, loadSavedFilters, removeFilter, savedFilters, saveFilter } from "./saved-filters.ts";
import styles from "./saved-filter-list.module.css";

const texts = words.savedFilters;

export function SavedFilterList() {
  loadSavedFilters();
  const { path, query } = useLocation();
  const [isNaming, setNaming] = useState(false);
  const now = filterText(query);
  const mine = savedFilters.value.filter((filter) => filter.path === path);
  const isSaved = mine.some((filter) => filter.query === now);
  return (
    <>
      {mine.map((filter) => (
        <span key={filter.name} class={styles["saved"]} data-here={filter.query === now}>
          <a href={`${path}?${filter.query}`} aria-current={filter.query === now ? "true" : undefined}>
            <Icon svg={bookmark} size={12} /> {filter.name}
          </a>
          <button type="button" aria-label={texts.remove(filter.name)} onClick={() => removeFilter(filter)}>
            <Icon svg={close} size={12} />
          </button>
        </span>
      ))}
      {now === "" || isSaved ? null : (
        <Button kind="quiet" icon={bookmark} onClick={() => setNaming(true)}>
          {texts.save}
        </Button>
      )}
      {isNaming ? (
        <FormDialog
          title={texts.title}
          about={texts.about}
          save={words.actions.save}
          fields={[{ name: "name", label: texts.name, isRequired: true }]}
          onClose={() => setNaming(false)}
          onSave={async ({ name = "" }) => saveFilter({ path, name: name.trim(), query: now })}
        />
      ) : null}
    </>
  );
}
