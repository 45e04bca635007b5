/** The definition that a new pipeline begins with: two jobs, one after the other, that any agent can run. Pure. */

const spec = {
  triggers: { manual: { inputs: { greeting: { description: "What the second job says", default: "Hello" } } } },
  jobs: [
    {
      name: "build",
      steps: [{ name: "make", uses: "shell", args: { script: "echo building\nsleep 1\necho built" } }],
    },
    {
      name: "greet",
      needs: ["build"],
      steps: [
        {
          name: "say",
          uses: "shell",
          env: { GREETING: "${{ variables.greeting }}" },
          args: { script: 'echo "$GREETING from millrace"' },
        },
      ],
    },
  ],
};

export const STARTER = { spec, format: "yaml" } as const;
