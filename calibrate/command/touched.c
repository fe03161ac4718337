/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "touched.h"

#include <math.h>
#include <stdarg.h>

#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

static void touch(struct touched *touched, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void touch(struct touched *touched, const char *format, ...)
{
        va_list arguments;

        if (touched->n == TOUCHED_MAX)
                return;
        va_start(arguments, format);
        vsnprintf(touched->list[touched->n++], sizeof(touched->list[0]), _(format), arguments);
        va_end(arguments);
}

static void touch_disks(const struct prospect *prospect, struct touched *touched)
{
        const struct options *options = prospect->options;
        const struct hardware_description *description = prospect->description;

        if (description->n_disks == 0)
                return;
        for (size_t i = 0; i < options->n_disks; i++)
                touch(touched, "a file of 256 MB in %.150s, removed afterwards", options->disks[i]);
        for (size_t i = 0; i < description->n_disks && options->n_disks == 0; i++)
                touch(touched, "a file of 256 MB on %s, removed afterwards", description->disks[i]);
}

static void touch_machine(const struct prospect *prospect, struct touched *touched)
{
        const struct hardware_description *description = prospect->description;

        if (description->n_policies && description->policies[0].khz[0])
                touch(touched, "/sys/devices/system/cpu/cpufreq/policy*/"
                      "scaling_{governor,min_freq,max_freq,setspeed}, and boost off");
        if (description->max_brightness)
                touch(touched, "/sys/class/backlight/*/brightness, bl_power, and a white screen");
        if (description->gpu)
                touch(touched, "a GPU kept busy by off-screen drawing");
        if (description->wifi)
                touch(touched, "/sys/class/rfkill/rfkill*/soft (WiFi on and off), and its power saving");
        touch_disks(prospect, touched);
        if (prospect->options->force_discharge)
                touch(touched,
                      "/sys/class/power_supply/*/charge_behaviour: from the battery, on the charger");
        touch(touched, "sleep, idling and the lid's switch, which do nothing meanwhile");
        touch(touched, "load on every core");
}

/* Flash wears, and data may cost. */
static void spend(const struct prospect *prospect, struct touched *touched)
{
        const struct options *options = prospect->options;
        const struct hardware_description *description = prospect->description;

        if (description->n_disks && isfinite(prospect->limits->write_bytes))
                touch(touched, "at most %.1f GB written to storages (flash wears)",
                      prospect->limits->write_bytes / 1e9);
        if (description->wifi && (description->wifi_rx || description->wifi_tx))
                touch(touched, options->wifi_peer ? N_("at most %.1f GB over WiFi, with %.140s")
                                                  : N_("at most %.1f GB over WiFi, from %.140s"),
                      prospect->limits->wifi_bytes / 1e9, options->wifi_peer ? options->wifi_peer : options->wifi_url);
        if (description->cellular)
                touch(touched, "at most %.1f MB over the modem, with %.120s: its network may charge for them",
                      prospect->limits->cellular_bytes / 1e6, options->cellular_peer);
}

void touched_list(const struct prospect *prospect, struct touched *ret)
{
        struct touched touched = { 0 };

        if (!prospect->options->device)
                touch_machine(prospect, &touched);
        else
                touch(&touched,
                      "nothing on this machine: frequencies, screen, WiFi and load are the virtual device's");
        touched.n_back = touched.n;
        if (!prospect->options->device)
                spend(prospect, &touched);
        touch(&touched, "%s (written)", prospect->observations);
        touch(&touched, "%s (written)", prospect->profile);
        *ret = touched;
}

static void print_some(FILE *file, const struct touched *touched, size_t from, size_t to)
{
        for (size_t i = from; i < to; i++) {
                fputs("  ", file);
                text_wrap(file, touched->list[i], 2, 4, TEXT_COLUMNS);
                fputc('\n', file);
        }
}

void touched_print_back(FILE *file, const struct touched *touched)
{
        print_some(file, touched, 0, touched->n_back);
}

void touched_print_staying(FILE *file, const struct touched *touched)
{
        print_some(file, touched, touched->n_back, touched->n);
}
