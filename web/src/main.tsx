/** The entry of the web page. */
// The first style sheet: it names the order of the layers.
import "./styles/page.css";
import { render } from "preact";
import { App } from "./app/app.tsx";
import { startTheme } from "./app/theme.ts";

startTheme();
const place = document.getElementById("page");
if (place !== null) render(<App />, place);
