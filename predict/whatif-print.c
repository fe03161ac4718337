/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif.h"

#include <math.h>
#include <stdio.h>

#include "ask.h"
#include "util/words.h"

/* In the form of the largest of the three, so that they can be compared. */
static double largest(struct joulecast_value minutes)
{
        return fmax(fabs(minutes.value), fmax(isnan(minutes.low) ? 0 : fabs(minutes.low),
                                              isnan(minutes.high) ? 0 : fabs(minutes.high)));
}

/* Rounded; one that is below 0 with a minus. */
static char *print_minutes(double minutes, double beside, char *buf)
{
        double whole = round(minutes);

        buf[0] = '-';
        ask_minutes(fabs(whole), beside, buf + (whole < 0));
        return buf;
}

char *whatif_minutes(struct joulecast_value minutes, char *buf)
{
        char value[40], low[40], high[40];
        double beside = largest(minutes);

        print_minutes(minutes.value, beside, value);
        if (isnan(minutes.low) || isnan(minutes.high))
                snprintf(buf, 96, "%s", value);
        else if (beside < 120)
                snprintf(buf, 96, _("%s (%.0f to %.0f)"), value, round(minutes.low), round(minutes.high));
        else
                snprintf(buf, 96, _("%s (%s to %s)"), value, print_minutes(minutes.low, beside, low),
                         print_minutes(minutes.high, beside, high));
        return buf;
}

static struct joulecast_value turned(struct joulecast_value minutes)
{
        return (struct joulecast_value){ -minutes.value, -minutes.high, -minutes.low };
}

char *whatif_sentence(const struct joulecast_gain *gain, char *buf, size_t size)
{
        struct joulecast_value gained = joulecast_gain_minutes(gain);
        bool less = gained.value < 0;
        char minutes[96];

        if (less)
                gained = turned(gained);
        if (joulecast_gain_is_nothing(gain))
                snprintf(buf, size, "%s", _("That changes nothing: what it would switch off or close uses "
                                            "nothing, now or usually."));
        else if (isnan(gained.value))
                snprintf(buf, size, "%s", _("The gain is unknown: the profile has no coefficient for it, or it is not "
                                            "counted."));
        else if (isnan(gained.low) && isnan(gained.high))
                snprintf(buf, size, less ? _("The battery lasts about %s less long; the error of this is unknown.")
                                         : _("The battery lasts about %s longer; the error of this is unknown."),
                         whatif_minutes(gained, minutes));
        else if (isnan(gained.low)) /* the gain is smaller by usage without a coefficient */
                snprintf(buf, size,
                         less ? _("The battery lasts at most about %s less long; this profile has no "
                                  "coefficient for some of what is used.")
                              : _("The battery lasts at most about %s longer; this profile has no "
                                  "coefficient for some of what is used."),
                         whatif_minutes(gained, minutes));
        else
                snprintf(buf, size, less ? _("The battery lasts %s less long.") : _("The battery lasts %s longer."),
                         whatif_minutes(gained, minutes));
        return buf;
}
