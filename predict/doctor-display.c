/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The built-in screen: which backlight is its own, and why the others are not. */

#include <errno.h>
#include <string.h>

#include "doctor.h"
#include "util/util.h"
#include "util/words.h"

/* Why it is not certain that the first backlight is the panel's. */
static const char *doubt(const struct backlight_candidate *list, char *buf, size_t size)
{
        if (list[0].of_several)
                snprintf(buf, size, _("nothing shows which of several panels %s lights"), list[0].name);
        else
                snprintf(buf, size, _("%s and %s may both be the screen's backlight"), list[0].name, list[1].name);
        return buf;
}

static void miss_brightness(struct findings *findings)
{
        const struct backlight_choice *choice = &findings->backlights;
        const struct backlight_candidate *list = choice->list;
        char why[256];

        if (choice->n == 0)
                doctor_miss(findings, N_("brightness"),
                            "sys/class/backlight is empty: the screen's cost has the range over all levels");
        else if (!choice->taken)
                doctor_miss(findings, N_("brightness"),
                            "no backlight is the built-in screen's, by what the kernel shows (%s: %s); if "
                            "one is, name it in joulecast.conf: backlight = %s",
                            list[0].name, _(list[0].why), list[0].name);
        else if (!choice->certain)
                doctor_miss(findings, N_("display of a calibration"),
                            "it is left out, because %s; name the right one in joulecast.conf: backlight = %s",
                            doubt(list, why, sizeof(why)), list[0].name);
        if (choice->taken && !choice->known)
                doctor_miss(findings, N_("brightness"), "%s: the screen's cost has the range over all levels",
                            doubt(list, why, sizeof(why)));
}

void doctor_look_at_display(int root_fd, struct findings *findings)
{
        int chosen = doctor_saw(findings, display_choose(root_fd, NULL, &findings->backlights));
        int err = doctor_saw(findings, display_look(root_fd, &findings->display));
        char why[512];

        findings->has_display = err == 0;
        if (err < 0)
                doctor_miss(findings, N_("display"), "there is neither a backlight nor a connected screen in "
                                                     "sys/class");
        if (chosen == -ENOENT &&
            doctor_saw(findings, display_explain_choice(root_fd, NULL, why, sizeof(why))) == -ENOENT)
                doctor_miss(findings, N_("brightness"), "%s", why);
        else if (!err)
                miss_brightness(findings);
}
