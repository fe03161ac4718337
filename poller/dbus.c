/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The connection to the system bus. The bus may be missing or end at any time, and any user may flood it. */

#include "dbus.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dbus-private.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Messages come in the order in which all users sent them and cannot be queued by user. So they take at most
 * a fifth of the time: after some messages comes a pause, in which the bus keeps them.
 */
#define BATCH_NS (50 * NS_PER_MS)
#define PAUSE_PART 4
#define WAIT_MOST 64 /* most polls between two tries to get the name */

/* Logs each problem once, until it is solved. */
static void __attribute__((format(printf, 2, 3))) say(struct dbus *dbus, const char *format, ...)
{
        char sentence[sizeof(dbus->said)];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(sentence, sizeof(sentence), format, arguments);
        va_end(arguments);
        if (strcmp(dbus->said, sentence) != 0)
                log_warning(dbus->log, "%s", sentence);
        snprintf(dbus->said, sizeof(dbus->said), "%s", sentence);
}

static void disconnect(struct dbus *dbus)
{
        for (size_t i = 0; i < DBUS_CALLS_MAX; i++) {
                if (dbus->calls[i].message)
                        answers_forget(dbus->answers, &dbus->calls[i]);
                dbus_call_end(&dbus->calls[i]);
        }
        for (size_t i = 0; i < DBUS_CALIBRATES_MAX; i++)
                dbus_call_end(&dbus->calibrates[i]);
        sd_bus_close(dbus->bus);
        dbus->bus = sd_bus_unref(dbus->bus);
        dbus->named = dbus->more = false;
}

static void lose(struct dbus *dbus, const char *why, int err)
{
        disconnect(dbus);
        say(dbus, "no answers by D-Bus: %s (%s); tried again after polls", why, util_reason(err));
        dbus->waits = MIN(MAX(2 * dbus->waits, 1u), (unsigned)WAIT_MOST);
        dbus->wait = dbus->waits;
}

/*
 * Handles the reply to RequestName. If another program owns the name, this service waits in the bus's queue
 * and later gets NameAcquired.
 */
static int on_name(sd_bus_message *reply, void *data, sd_bus_error *error)
{
        struct dbus *dbus = data;
        uint32_t state = 0;

        if (sd_bus_message_get_error(reply)) {
                lose(dbus, "the bus does not give us the name " DBUS_NAME, -sd_bus_message_get_errno(reply));
                return 1;
        }
        (void)sd_bus_message_read(reply, "u", &state);
        if (state == 1) {
                dbus->named = true;
                dbus->waits = 0;
                *dbus->said = '\0';
        } else {
                say(dbus, "no answers by D-Bus: another program has the name " DBUS_NAME "; we get it when that ends");
        }
        return 1;
}

static int connect_bus(struct dbus *dbus)
{
        int err = sd_bus_open_system(&dbus->bus);

        if (err >= 0)
                err = dbus_vtable_add(dbus);
        return err < 0 ? err : sd_bus_request_name_async(dbus->bus, NULL, DBUS_NAME, SD_BUS_NAME_QUEUE, on_name, dbus);
}

static void try_bus(struct dbus *dbus)
{
        int err = connect_bus(dbus);

        if (err < 0)
                lose(dbus, "there is no system bus", err);
}

int dbus_open(struct answers *answers, const struct question_source *source, const struct log *log, struct dbus **ret)
{
        struct dbus *dbus = calloc(1, sizeof(*dbus));

        if (!dbus)
                return -ENOMEM;
        dbus->answers = answers;
        dbus->source = source;
        dbus->log = log;
        dbus->present = dbus->told = (struct present)PRESENT_UNKNOWN;
        try_bus(dbus);
        *ret = dbus;
        return 0;
}

void dbus_close(struct dbus *dbus)
{
        if (!dbus)
                return;
        if (dbus->bus && sd_bus_is_ready(dbus->bus) > 0)
                (void)sd_bus_flush(dbus->bus);
        disconnect(dbus);
        free(dbus);
}

void dbus_watch(struct dbus *dbus, struct pollfd *fd)
{
        int events = dbus && dbus->bus ? sd_bus_get_events(dbus->bus) : -1;

        *fd = (struct pollfd){ .fd = -1 };
        if (events < 0 || dbus->more || util_boottime_ns() < dbus->pause_ns)
                return;
        fd->fd = sd_bus_get_fd(dbus->bus);
        fd->events = (short)events;
}

uint64_t dbus_deadline_ns(struct dbus *dbus)
{
        uint64_t until_us = UINT64_MAX, now_ns = util_boottime_ns(), monotonic_ns, deadline_ns = UINT64_MAX;

        if (!dbus || !dbus->bus)
                return UINT64_MAX;
        if (dbus->more || dbus->pause_ns > now_ns)
                return dbus->pause_ns;
        /* sd-bus uses CLOCK_MONOTONIC. */
        if (sd_bus_get_timeout(dbus->bus, &until_us) >= 0 && until_us < UINT64_MAX / 1000) {
                monotonic_ns = util_clock_ns(CLOCK_MONOTONIC);
                deadline_ns = now_ns + (until_us * 1000 > monotonic_ns ? until_us * 1000 - monotonic_ns : 0);
        }
        return deadline_ns;
}

void dbus_serve(struct dbus *dbus, const struct pollfd *fd)
{
        uint64_t begin_ns = util_clock_ns(CLOCK_THREAD_CPUTIME_ID), spent_ns = 0;
        int more = 1;

        if (!dbus || !dbus->bus || (!fd->revents && util_boottime_ns() < dbus_deadline_ns(dbus)))
                return;
        while (more > 0 && spent_ns < BATCH_NS && dbus->bus) {
                more = sd_bus_process(dbus->bus, NULL);
                spent_ns = util_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
        }
        if (!dbus->bus)
                return;
        if (more < 0) {
                lose(dbus, "the bus is gone", more);
                return;
        }
        dbus->more = more > 0;
        if (dbus->more)
                dbus->pause_ns = util_boottime_ns() + PAUSE_PART * spent_ns;
}

void dbus_polled(struct dbus *dbus, const struct battery *battery)
{
        if (!dbus)
                return;
        if (!dbus->bus && (dbus->wait == 0 || --dbus->wait == 0))
                try_bus(dbus);
        if (!dbus->wanted)
                return;
        present_follow(dbus->source, battery, &dbus->present);
        if (dbus->bus && sd_bus_is_ready(dbus->bus) > 0)
                dbus_tell_changes(dbus);
}
