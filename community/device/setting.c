/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "member.h"

#include <math.h>
#include <string.h>

#include "util/paths.h"
#include "util/util.h"

#define CONNECTORS "sys/class/drm"

/*
 * Documentation/ABI/testing/sysfs-platform_profile, and the policies of cpufreq (admin-guide/pm/intel_pstate,
 * cpufreq).
 */
static const char *const profiles[] = {
        "low-power", "cool", "quiet", "balanced", "balanced-performance", "performance", "max-power", "custom",
        "default", "balance_performance", "balance_power", "power",
        "powersave", "schedutil", "ondemand", "conservative", "userspace", "interactive",
};

bool setting_is_profile(const char *word)
{
        for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
                if (strcmp(word, profiles[i]) == 0)
                        return true;
        return false;
}

/* Reads the first of these files that exists and has a known word. */
static void read_profile(int root_fd, char *buf, size_t size)
{
        static const char *const paths[] = {
                "sys/firmware/acpi/platform_profile",
                "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        };
        char text[64];

        for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
                if (util_read_at(root_fd, paths[i], text, sizeof(text)) < 0)
                        continue;
                text[strcspn(text, " \n")] = '\0';
                if (!setting_is_profile(text))
                        continue;
                snprintf(buf, size, "%.*s", (int)size - 1, text);
                return;
        }
}

/* "card0-HDMI-A-1" is external; "card0-eDP-1" is built in, and "card0-Writeback-1" is no screen. */
static bool is_external(const char *name)
{
        static const char *const others[] = { "eDP", "LVDS", "DSI", "DPI", "SPI", "Virtual", "Writeback", "Unknown" };
        const char *type = strchr(name, '-');

        for (size_t i = 0; type && i < ARRAY_SIZE(others); i++)
                if (strncmp(type + 1, others[i], strlen(others[i])) == 0)
                        return false;
        return type != NULL;
}

static int look_for_external(int root_fd)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(root_fd, CONNECTORS);
        const struct dirent *entry;
        int external = -1;

        while (dir && (entry = readdir(dir))) {
                char path[320], text[32];

                if (!strchr(entry->d_name, '-'))
                        continue;
                external = external < 0 ? 0 : external;
                snprintf(path, sizeof(path), "%s/status", entry->d_name);
                if (is_external(entry->d_name) && util_read_at(dirfd(dir), path, text, sizeof(text)) > 0 &&
                    strncmp(text, "connected", 9) == 0)
                        external = 1;
        }
        return external;
}

int setting_refresh_class(double hz)
{
        static const int classes[] = { 30, 40, 48, 60, 75, 90, 100, 120, 144, 165, 180, 200, 240, 300, 360, 480 };
        int best = classes[0];

        for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
                if (fabs(classes[i] - hz) < fabs(best - hz))
                        best = classes[i];
        return best;
}

/* Reads the rate that the service wrote; it comes from the active session's joulecast-focus. */
static int read_refresh(int root_fd)
{
        char text[32];
        double mhz;

        if (util_read_at(root_fd, &PATHS_REFRESH_RATE[1], text, sizeof(text)) <= 0)
                return 0;
        text[strcspn(text, "\n")] = '\0';
        return util_parse_double(text, &mhz) == 0 && mhz >= 1000 && mhz <= 1e6 ? setting_refresh_class(mhz / 1000) : 0;
}

void setting_read(int root_fd, int64_t time_ns, struct setting *ret)
{
        *ret = (struct setting){ .time_ns = time_ns, .external = look_for_external(root_fd),
                                 .refresh_hz = read_refresh(root_fd) };
        read_profile(root_fd, ret->profile, sizeof(ret->profile));
}
