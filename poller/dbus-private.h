/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "dbus.h"
#include "question.h"
#include "source/sample.h"
#include "util/sd-bus.h"

/*
 * The present state of the device for a panel: charge, drain, time left. It reveals nothing about any user's
 * apps. The values from usage.db are read seldom, and scaled by the charge in between.
 */

struct present {
        double percent;                    /* charge; NaN: unknown, like all values below */
        double percent_per_hour;           /* drain of the battery */
        struct joulecast_value minutes;    /* time left on battery with mixed use */
        struct joulecast_value minutes_to_full;
        double charge_limit_percent;       /* NaN: none */
        enum battery_status status;
        bool stale;                        /* a supply stays online although it was unplugged */
        char calibration[16];              /* profile_basis(), or "none" */

        /* values of the last reading of usage.db */
        double energy_full_mwh;
        double read_percent;
        struct joulecast_value read_minutes;
        enum battery_status read_status;
        unsigned age;                      /* polls since that reading */
};

#define PRESENT_UNKNOWN \
        { .percent = NAN, .percent_per_hour = NAN, .minutes = { NAN, NAN, NAN }, .minutes_to_full = { NAN, NAN, NAN }, \
          .charge_limit_percent = NAN, .calibration = "none", .energy_full_mwh = NAN, .read_percent = NAN, \
          .read_minutes = { NAN, NAN, NAN } }

/* Reads usage.db. Values that cannot be determined are unknown. */
void present_read(const struct question_source *source, struct present *present);
/* Call it after a poll: updates from the battery, and from usage.db when that is due. */
void present_follow(const struct question_source *source, const struct battery *battery, struct present *present);
/* Do the values differ by at least @least, and by at least @part of @other? */
bool present_differs(double one, double other, double least, double part);

#define DBUS_NAME "org.joulecast1"
#define DBUS_PATH "/org/joulecast1"
#define DBUS_CALLS_MAX 128 /* includes calls whose user is not known yet */
#define DBUS_CALIBRATES_MAX 4

/* A call that waits for its answer. */
struct dbus_call {
        struct dbus *dbus;
        sd_bus_message *message; /* NULL: unused */
        sd_bus_slot *slot;       /* pending request to the bus or polkit; or NULL */
        char *question;          /* until it is queued with the questions */
};

struct dbus {
        sd_bus *bus; /* NULL: not connected */
        struct answers *answers;
        const struct question_source *source;
        const struct log *log;
        bool named;           /* the name is owned by this service */
        char said[256];       /* last logged sentence */
        unsigned wait, waits; /* polls until the next try to connect, and the last number of these */
        uint64_t pause_ns;    /* no messages are read until then */
        bool more;            /* messages are left in sd-bus's queue */
        struct dbus_call calls[DBUS_CALLS_MAX];
        struct dbus_call calibrates[DBUS_CALIBRATES_MAX];
        bool wanted;          /* a client has read a property, so they are kept up to date */
        struct present present, told;
};

/* Finds room for @message in @calls, unless its sender has too many calls already. */
struct dbus_call *dbus_call_begin(struct dbus *dbus, struct dbus_call *calls, size_t n, sd_bus_message *message);
void dbus_call_end(struct dbus_call *call);
int dbus_refuse(sd_bus_message *message, int err, const char *sentence);

/* dbus-vtable.c: the object at DBUS_PATH. */
int dbus_vtable_add(struct dbus *dbus);
void dbus_tell_changes(struct dbus *dbus);

/* dbus-ask.c */
int dbus_on_ask(sd_bus_message *message, void *data, sd_bus_error *error);
/* dbus-calibrate.c */
int dbus_on_calibrate(sd_bus_message *message, void *data, sd_bus_error *error);
