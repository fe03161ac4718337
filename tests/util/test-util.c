/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check.h"
#include "util/util.h"

static void a_text_has_only(void)
{
        check(util_only_has("a-Z.09", "-.") && util_only_has("", "-"));
        check(!util_only_has("a b", "-.") && !util_only_has("a;b", "-.") && !util_only_has("\xe4", "-."));
}

int main(void)
{
        a_text_has_only();
        return check_result();
}
