/** The entry of the web page. */
import { render } from "preact";
import { App } from "./app/app.tsx";
import { startTheme } from "./app/theme.ts";
import "./styles/page.css";

startTheme();
const place = document.getElementById("page");
if (place !== null) render(<App />, place);
