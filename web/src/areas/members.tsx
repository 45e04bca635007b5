/** The members of a project or a tenant with their roles. */
import { useState } from "preact/hooks";
import users from "lucide-static/icons/users.svg?raw";
import type { Schemas } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../parts/form-dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MoreButton, usePages } from "../parts/more.tsx";
import { Section } from "../parts/page.tsx";
import { Blank } from "../parts/problem.tsx";
import { type Column, Table, Under } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { tell } from "../parts/toast.tsx";
import { problemText } from "../api/errors.ts";
import { type Area, deleteMember, listMembers, mayHere, putMember } from "./area.ts";
import { areaWords } from "./area-words.ts";

const texts = areaWords.members;
type Member = Schemas["Member"];
export const ROLES = Object.entries(texts.roles) as [Member["role"], string][];

export function Members({ area }: { readonly area: Area }) {
  const members = usePages((after, signal) => listMembers(area, after, signal), [area]);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Member | undefined>(undefined);
  const mayWrite = mayHere("writeMembers", area);
  const change = (member: Member, role: Member["role"]) =>
    putMember(area, member.memberId, role).then(
      () => {
        tell(texts.added);
        members.reload();
      },
      (error: unknown) => {
        tell(problemText(error), "failed");
        members.reload();
      },
    );
  const columns: readonly Column<Member>[] = [
    {
      name: texts.name,
      cell: ({ name, kind }) => (
        <>
          {name}
          <Under>{texts.kinds[kind]}</Under>
        </>
      ),
    },
    {
      name: texts.role,
      width: "160px",
      narrow: "130px",
      cell: (member) =>
        mayWrite ? (
          <select
            aria-label={texts.roleOf(member.name)}
            value={member.role}
            onChange={(event) => void change(member, event.currentTarget.value as Member["role"])}
          >
            {ROLES.map(([role, name]) => (
              <option key={role} value={role}>
                {name}
              </option>
            ))}
          </select>
        ) : (
          texts.roles[member.role]
        ),
    },
    { name: texts.since, width: "110px", needs: "wide", align: "end", cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      name: texts.remove,
      isQuiet: true,
      width: "110px",
      align: "end",
      cell: (member) => (mayWrite ? <Button onClick={() => setRemoving(member)}>{texts.remove}</Button> : null),
    },
  ];
  const add = mayWrite ? (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {texts.add}
    </Button>
  ) : undefined;
  return (
    <Section title={areaWords.tabs.members} aside={add}>
      <Loaded of={members.pages}>
        {() =>
          members.list.length === 0 ? (
            <Blank icon={users} title={texts.none} actions={add}>
              {texts.noneText}
            </Blank>
          ) : (
            <Table label={areaWords.tabs.members} rows={members.list} columns={columns} keyOf={(one) => one.memberId} />
          )
        }
      </Loaded>
      <MoreButton of={members} />
      {isAdding ? (
        <FormDialog
          title={texts.add}
          save={texts.save}
          fields={[
            { name: "member", label: texts.name, isRequired: true, hint: texts.addHint },
            { name: "role", label: texts.role, kind: "select", value: "viewer", options: ROLES },
          ]}
          onClose={() => setAdding(false)}
          onSave={async ({ member = "", role }) => {
            await putMember(area, member.trim(), role as Member["role"]);
            tell(texts.added);
            members.reload();
          }}
        />
      ) : null}
      {removing === undefined ? null : (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText(removing.name)}
          action={texts.remove}
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            await deleteMember(area, removing.memberId);
            tell(texts.removed);
            members.reload();
          }}
        />
      )}
    </Section>
  );
}
