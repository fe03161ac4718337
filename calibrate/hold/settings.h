/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Everything that calibration changes on this machine goes through here, so that it can be put back: what a
 * setting was and what we made of it stand in the restore journal, on the disk, before the machine hears of
 * it. Only settings of a fixed list can be changed at all, and only within their range; the same list judges
 * the journal when it is read again, which may be by root after a power cut.
 *
 * A setting is named by the path of its sysfs attribute. What is no file has a name that reads like one,
 * "nl80211:wlan0/power_save": it has a row in the list (attribute.c) like the others, and a struct
 * setting_medium that reads and writes it (attribute.h; a file of its own, and a row in attribute-io.c).
 */

#include <stdbool.h>
#include <stddef.h>

#include "util/log.h"

struct settings;

/**
 * settings_open() - a new, empty journal
 * @root_fd: of the machine; "/" but in tests
 * @journal: path of restore.ini; its folder is made, 0700
 *
 * Return: 0; -EBUSY: another calibration holds it; -EEXIST: a journal is there that was not restored yet.
 */
int settings_open(int root_fd, const char *journal, const struct log *log, struct settings **ret);
void settings_close(struct settings *settings); /* restores nothing */

/*
 * Declares what will be changed and notes what it is now. All of this comes before settings_commit().
 * -EPERM: not on the list; -ENOENT: this machine has none; -errno of reading it.
 */
int settings_add(struct settings *settings, const char *name);
/* A file of ours, still to be made: it goes away. */
int settings_add_file(struct settings *settings, const char *path);

/* The journal survives a power cut from here on, and changes may begin. */
int settings_commit(struct settings *settings);

/*
 * Journals the intent, writes, reads back what the driver made of it,
 * and journals that. -ERANGE: out of range.
 */
int settings_write(struct settings *settings, const char *name, const char *value);
/* The same in two halves, around a write by somebody else (libcpupower). */
int settings_before(struct settings *settings, const char *name, const char *value);
int settings_after(struct settings *settings, const char *name);

/*
 * Around all the writes of a change of mode: what is between the two costs the disk no write of the journal
 * each, but one at the begin and one at the end. If it is cut short between them, every declared setting that
 * is not as it was counts as ours. machine.c does it; parts need not.
 */
int settings_begin_changes(struct settings *settings);
int settings_end_changes(struct settings *settings);

/* What it was before us; NULL: not declared. */
const char *settings_original(const struct settings *settings, const char *name);
/* Whether the machine shows @value now. */
bool settings_show(const struct settings *settings, const char *name, const char *value);

/*
 * One calibration at a time: held from before the first look at the journal, by the watchdog and the
 * worker. Counts its holders in this process, so open and restore take it as well. 0; -EBUSY: another one
 * runs; has said its sentence.
 */
int settings_lock(const char *journal, const struct log *log);
void settings_unlock(void);

struct restore_report {
        size_t restored; /* put back now */
        size_t kept;     /* already as they were */
        size_t left;     /* changed by somebody else since, or the device is gone; said to the log */
        size_t failed;
};

/**
 * settings_restore() - put everything back, and remove the journal where nothing failed
 *
 * Touches a setting only where its value is still ours. After a reboot (another boot id) only what outlives
 * one. Safe to repeat. Return: 0, also without a journal; -EBUSY: a calibration is running; -EBADMSG: the
 * journal is not one of ours (said to the log); -EIO: something could not be put back; -EAGAIN: all is put back,
 * but so soon after a boot what outlives one may change once more, and the journal is kept for one more look.
 */
int settings_restore(int root_fd, const char *journal, const struct log *log, struct restore_report *ret);
