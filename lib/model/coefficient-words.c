/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "coefficient-words.h"

#include <stdio.h>
#include <string.h>

#include "util/words.h"

/* The part of a device, and when or by what it draws. */
static const struct {
        const char *part, *when;
} words[TERM_COUNT] = {
        [TERM_BASE] = { N_("base"), NULL },
        [TERM_CPU_ACTIVE] = { N_("CPU"), N_("per core") },
        [TERM_CPU_SHARED] = { N_("CPU"), N_("shared") },
        [TERM_CPU_IDLE] = { N_("CPU"), N_("idle") },
        [TERM_CPU_INSTRUCTIONS] = { N_("CPU"), N_("part of instructions") },
        [TERM_CPU_MISSES] = { N_("CPU"), N_("cycles of a cache miss") },
        [TERM_DISPLAY] = { N_("display"), NULL },
        [TERM_DISK_READ] = { N_("disk"), N_("read") },
        [TERM_DISK_WRITE] = { N_("disk"), N_("written") },
        [TERM_WIFI_ON] = { N_("WiFi"), N_("connected") },
        [TERM_WIFI_RX] = { N_("WiFi"), N_("received") },
        [TERM_WIFI_TX] = { N_("WiFi"), N_("sent") },
        [TERM_WIFI_WAKE] = { N_("WiFi"), N_("per burst") },
        [TERM_WIFI_RADIO] = { N_("WiFi"), N_("all packets") },
        [TERM_CELLULAR] = { N_("modem"), N_("all packets") },
        [TERM_CELLULAR_RX] = { N_("modem"), N_("received") },
        [TERM_CELLULAR_TX] = { N_("modem"), N_("sent") },
        [TERM_GPU] = { N_("GPU"), N_("busy") },
        [TERM_GPS] = { N_("GPS"), N_("on") },
        [TERM_GPS_SLEEP] = { N_("GPS"), N_("asleep") },
        [TERM_AUDIO] = { N_("sound"), N_("on") },
        [TERM_CAMERA] = { N_("camera"), N_("on") },
        [TERM_BLUETOOTH] = { N_("Bluetooth"), N_("connected") },
        [TERM_SUSPEND] = { N_("suspended"), NULL },
        [TERM_CURVE] = { N_("gauge"), NULL },
        [TERM_APP_CPU] = { NULL, N_("CPU") },
        [TERM_APP_DISPLAY] = { NULL, N_("display") },
        [TERM_APP_FRONT] = { NULL, N_("foreground") },
        [TERM_APP_BEHIND] = { NULL, N_("background") },
        [TERM_WIFI_SIGNAL] = { N_("WiFi"), NULL },
};

/* Which CPUs, where a device has several kinds. */
static const char *cpus_of(const struct profile *profile, uint32_t policy)
{
        const char *cpus = NULL;
        size_t kinds = 0;

        for (size_t i = 0; i < profile->n_policies; i++) {
                kinds += profile->policies[i].as == profile->policies[i].policy;
                if (profile->policies[i].policy == policy)
                        cpus = profile->policies[i].cpus;
        }
        return kinds > 1 && cpus ? cpus : "";
}

static void print_part(const struct profile *profile, const struct coefficient *coefficient, char *buf, size_t size)
{
        const char *part = words[coefficient->term].part, *which = coefficient->disk;

        if (part && term_keys[coefficient->term].by_policy)
                which = cpus_of(profile, coefficient->policy);
        snprintf(buf, size, "%s%s%s", part ? _(part) : "", *which ? " " : "", which);
        for (size_t i = 0; !part && i < profile->n_apps; i++)
                if (profile->apps[i].number == coefficient->policy)
                        snprintf(buf, size, "%s", profile->apps[i].id);
}

static void print_point(const struct profile *profile, const struct coefficient *coefficient, char *buf, size_t size)
{
        *buf = '\0';
        if (!term_keys[coefficient->term].by_point)
                return;
        if (coefficient->term == TERM_WIFI_SIGNAL)
                snprintf(buf, size, _(" at -%u dBm"), coefficient->point);
        else if (coefficient->term == TERM_CURVE)
                snprintf(buf, size, " %u", coefficient->point);
        else if (coefficient->term == TERM_DISPLAY && profile->max_brightness > 0)
                snprintf(buf, size, _(" at %.3g %%"), 100.0 * coefficient->point / profile->max_brightness);
        else if (coefficient->term == TERM_DISPLAY)
                snprintf(buf, size, _(" at brightness %u"), coefficient->point);
        else if (coefficient->point != KHZ_UNKNOWN)
                snprintf(buf, size, _(" at %.4g GHz"), coefficient->point / 1e6);
}

char *coefficient_words(const struct profile *profile, const struct coefficient *coefficient, char *buf)
{
        const char *when = words[coefficient->term].when;
        char part[PROFILE_APP_MAX + PROFILE_NAME_MAX], point[48];

        print_part(profile, coefficient, part, sizeof(part));
        print_point(profile, coefficient, point, sizeof(point));
        snprintf(buf, COEFFICIENT_WORDS_MAX, "%s%s%s%s", part, point, when ? ", " : "", when ? _(when) : "");
        return buf;
}
