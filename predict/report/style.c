/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The look of a report. The colours of apps are Okabe and Ito's, which most people can tell apart. */

#include "report.h"

const char report_css[] =
        ":root{--paper:#fff;--ink:#1c1e21;--soft:#5a6068;--line:#d9dce0;--band:#f4f5f7;--accent:#0b6bb3;--base:#b9bec5;--others:#8b9199;"
        "--c1:#0072b2;--c2:#e69f00;--c3:#009e73;--c4:#cc79a7;--c5:#56b4e9;--c6:#d55e00;--c7:#b5a800}\n"
        "@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e8eaed;--soft:#a3a9b2;--line:#363b42;--band:#1e2125;--accent:#6cb8f0;"
        "--base:#4b525b;--others:#737b86;--c1:#3d9be0;--c2:#e8ab2c;--c3:#22b48a;--c4:#d88fb7;--c5:#7cc8f2;--c6:#ea7a3a;--c7:#d4c83a}}\n"
        "*{box-sizing:border-box}\n"
        "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
        "header,main,footer{max-width:1080px;margin:0 auto;padding:0 20px}\n"
        "header{padding-top:32px}h1{font-size:1.9rem;line-height:1.2;margin:0 0 4px}h2{font-size:1.35rem;margin:0 0 12px}\n"
        "h3{font-size:1rem;margin:20px 0 4px}p{margin:6px 0;max-width:70ch}.sub,.note,footer{color:var(--soft)}.note{font-size:.875rem}\n"
        "nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;padding:0;margin:14px 0}a{color:var(--accent)}\n"
        "a:focus-visible,summary:focus-visible,.wide:focus-visible{outline:3px solid var(--accent);outline-offset:2px}\n"
        "section{border-top:1px solid var(--line);padding:28px 0}footer{padding:20px;font-size:.875rem}\n"
        ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin:18px 0 28px}\n"
        ".figures div{background:var(--band);border-radius:8px;padding:12px 16px}.figures dt{color:var(--soft);font-size:.875rem}\n"
        ".figures dd{margin:0;font-size:1.7rem;font-weight:600;line-height:1.2}.figures small{display:inline-block;font-size:.875rem;font-weight:400;color:var(--soft)}\n"
        ".plot{display:block;overflow:visible}.plot text{font-size:12px;fill:var(--soft);pointer-events:none}\n"
        ".plot .y{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}\n"
        ".grid,.axis,.level,.design{fill:none;vector-effect:non-scaling-stroke;stroke:var(--line)}.axis{stroke:var(--soft)}\n"
        ".level{stroke:var(--accent);stroke-width:2}.design{stroke:var(--ink);stroke-dasharray:6 4}\n"
        ".layer{stroke:var(--paper);stroke-width:.6;vector-effect:non-scaling-stroke}.tip{fill:transparent}.tip:hover{fill:var(--ink);fill-opacity:.08}\n"
        ".base,.others,.c1,.c2,.c3,.c4,.c5,.c6,.c7{fill:var(--c);background:var(--c)}.base{--c:var(--base)}.others{--c:var(--others)}\n"
        ".c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}\n"
        ".legend{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:10px 0;font-size:.875rem}.legend li{overflow-wrap:anywhere}\n"
        ".key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;vertical-align:-1px}\n"
        ".wide{overflow-x:auto;margin:12px 0}table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
        "caption{text-align:left;color:var(--soft);padding:4px 0}th,td{padding:5px 8px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
        "thead th{color:var(--soft);font-weight:600}tbody th,.text{text-align:left;font-weight:500}td.text{font-weight:400}tbody th{max-width:24ch;overflow:hidden;text-overflow:ellipsis}\n"
        ".sum th,.sum td{background:var(--band)}.bounds,.none{color:var(--soft)}.bar{width:22%;min-width:90px}.bar svg{display:block}\n"
        ".ci{stroke:var(--ink);stroke-width:2}#hours~.wide td{padding:5px 3px;text-align:center;background:color-mix(in srgb,var(--c2) var(--heat,0%),transparent)}\n"
        "summary{cursor:pointer;color:var(--accent);padding:4px 0}code{font-size:.9em}\n"
        "@media(max-width:600px){header,main,footer{padding-left:14px;padding-right:14px}h1{font-size:1.5rem}.minor{display:none}"
        ".figures{grid-template-columns:1fr 1fr}.figures dd{font-size:1.35rem}}\n"
        "@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--band:#f2f2f2;font-size:11px}body{font-size:1rem;-webkit-print-color-adjust:exact;print-color-adjust:exact}"
        "nav{display:none}.wide{overflow:visible}section{padding:14px 0}tr,.plot,.figures div,.legend{break-inside:avoid}th,td{padding:2px 4px}table{font-size:9px}h2,h3,caption{break-after:avoid}}\n";
