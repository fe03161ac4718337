/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What comes from outside stays a text in a page. */

#include "check.h"
#include "util/html.h"
#include "util/text.h"
#include "util/util.h"

int main(void)
{
        static const struct {
                const char *text, *want;
        } cases[] = {
                { "firefox", "firefox" },
                { "</title><script>alert(1)</script>", "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
                { "\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;" },
                { "a\033[1m\xff", "a?[1m?" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct text_kept kept = { 0 };
                FILE *file = text_open(&kept);
                _cleanup_free_ char *text = NULL;

                html_text(file, cases[i].text);
                text = text_close(file, &kept);
                check_text(text ? text : "", cases[i].want);
        }
        return check_result();
}
