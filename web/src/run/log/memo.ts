/** A component that is drawn again only when one of its properties is another value. */
import { Component, type ComponentChild, createElement, type FunctionComponent } from "preact";

/** Preact has it only beside its compatibility with React, which the page does without. */
export function memo<Props extends object>(draw: (props: Props) => ComponentChild): FunctionComponent<Props> {
  class Kept extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const now = this.props as Readonly<Record<string, unknown>>;
      return Object.entries(next).some(([key, value]) => now[key] !== value);
    }

    override render(): ComponentChild {
      return draw(this.props as Props);
    }
  }
  return (props) => createElement(Kept as never, props as never);
}
