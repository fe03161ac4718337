/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text from outside is escaped in a page, and cannot become markup. */

#include "check.h"
#include "util/html.h"
#include "util/text.h"
#include "util/util.h"

static void check_written(void (*write)(FILE *file, const char *text), const char *from, const char *want)
{
        struct text_kept kept = { 0 };
        FILE *file = text_open(&kept);
        _cleanup_free_ char *text = NULL;

        write(file, from);
        text = text_close(file, &kept);
        check_text(text ? text : "", want);
}

int main(void)
{
        static const struct {
                const char *text, *want;
        } cases[] = {
                { "firefox", "firefox" },
                { "</title><script>alert(1)</script>", "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
                { "\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;" },
                { "a\033[1m\xff", "a?[1m?" },
        }, json[] = {
                { "read@libc.so.6", "\"read@libc.so.6\"" },
                { "</script><img onerror=\"x\">", "\"\\u003c/script\\u003e\\u003cimg onerror=\\\"x\\\"\\u003e\"" },
                { "a\\b\xe2\x80\xa8" "c\xe2\x80\xa9&'", "\"a\\\\b?c?\\u0026\\u0027\"" },
                { "gr\xc3\xbc\xc3\x9f \xc3\n", "\"gr\xc3\xbc\xc3\x9f ??\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_written(html_text, cases[i].text, cases[i].want);
        for (size_t i = 0; i < ARRAY_SIZE(json); i++)
                check_written(html_json, json[i].text, json[i].want);
        return check_result();
}
