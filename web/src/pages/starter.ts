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

/** The same, as the editor shows it to who writes the first definition of a pipeline. */
export const STARTER_TEXT = `# What starts a run, and what it asks for.
triggers:
  manual:
    inputs:
      greeting:
        description: What the second job says
        default: Hello
# Jobs run at the same time, unless one needs another. Their steps run one after the other.
jobs:
  - name: build
    steps:
      - name: make
        uses: shell
        args:
          script: |-
            echo building
            sleep 1
            echo built
  - name: greet
    needs: [build]
    steps:
      - name: say
        uses: shell
        env:
          GREETING: \${{ variables.greeting }}
        args:
          script: echo "$GREETING from millrace"
`;

export const STARTER = { spec, format: "yaml", layout: STARTER_TEXT } as const;
