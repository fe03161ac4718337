/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <sys/statfs.h>

#include <linux/magic.h>

bool util_shrink(void *array, size_t *capacity, size_t used)
{
        if (*capacity < 256 || used > *capacity / 8)
                return false;
        freep(array);
        *(void **)array = NULL;
        *capacity = 0;
        return true;
}

size_t util_lower_bound(const void *key, const void *list, size_t n, size_t size, util_compare compare)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (compare(key, (const char *)list + middle * size) > 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const char *util_base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

int util_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
        size_t wanted = *capacity;
        void *grown;

        if (needed <= *capacity)
                return 0;
        while (wanted < needed)
                wanted = wanted ? wanted * 2 : 8;
        grown = reallocarray(*(void **)array, wanted, size);
        if (!grown)
                return -ENOMEM;
        *(void **)array = grown;
        *capacity = wanted;
        return 0;
}

const char *util_reason(int err)
{
        if (err == -EMFILE)
                return "too many open files; raise LimitNOFILE= of the service, or ulimit -n";
        if (err == -ENOLINK)
                return "another user can change its folder, or one above it; name a folder that only you and root can "
                       "write in";
        return strerror(-err);
}

uint64_t util_clock_ns(clockid_t clock)
{
        struct timespec now = { 0 };

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t util_boottime_ns(void)
{
        return util_clock_ns(CLOCK_BOOTTIME);
}

ssize_t util_read_at(int dir_fd, const char *path, char *buf, size_t size)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        size_t length = 0;

        if (fd < 0)
                return -errno;
        for (;;) {
                ssize_t n = read(fd, buf + length, size - length);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                length += (size_t)n;
                if (length == size)
                        return -EFBIG;
        }
        buf[length] = '\0';
        return (ssize_t)length;
}

DIR *util_opendir_at(int dir_fd, const char *path)
{
        int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir)
                closep(&fd);
        return dir;
}

bool util_is_procfs(int fd)
{
        struct statfs info;

        return fstatfs(fd, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

bool util_has_entry(int dir_fd, const char *path, const char *prefix)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(dir_fd, path);
        const struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
                        return true;
        return false;
}

static const char *skip_blanks(const char *text)
{
        return text + strspn(text, " \t\r\n");
}

/* isalnum() depends on the locale. */
bool util_only_has(const char *text, const char *others)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

        while (*text && (strchr(letters, *text) || strchr(others, *text)))
                text++;
        return *text == '\0';
}

bool util_is_word(const char *words, const char *text)
{
        size_t length = strlen(text);

        for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
                if (strcspn(at, " ") == length && strncmp(at, text, length) == 0)
                        return true;
        return false;
}

int util_parse_u64(const char *text, uint64_t *ret)
{
        unsigned long long value;
        char *end;

        text = skip_blanks(text);
        if (*text < '0' || *text > '9')
                return -EINVAL;
        errno = 0;
        value = strtoull(text, &end, 10);
        if (errno)
                return -errno;
        if (*skip_blanks(end))
                return -EINVAL;
        *ret = value;
        return 0;
}

int util_parse_i64(const char *text, int64_t *ret)
{
        long long value;
        char *end;

        text = skip_blanks(text);
        if (*text != '-' && (*text < '0' || *text > '9'))
                return -EINVAL;
        errno = 0;
        value = strtoll(text, &end, 10);
        if (errno)
                return -errno;
        if (end == text || *skip_blanks(end))
                return -EINVAL;
        *ret = value;
        return 0;
}

/* One "C" locale for the whole process; a race makes a second one that is freed again. */
static locale_t c_locale(void)
{
        static _Atomic(locale_t) shared;
        locale_t known = shared, none = (locale_t)0, made;

        if (known)
                return known;
        made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (made && !__atomic_compare_exchange_n((locale_t *)&shared, &none, made, false, __ATOMIC_SEQ_CST,
                                                 __ATOMIC_SEQ_CST)) {
                freelocale(made);
                made = none;
        }
        return made;
}

locale_t util_enter_c_locale(void)
{
        locale_t locale = c_locale();

        return locale ? uselocale(locale) : (locale_t)0;
}

void util_leave_c_locale(locale_t before)
{
        if (before)
                uselocale(before);
}

int util_parse_double(const char *text, double *ret)
{
        locale_t locale = c_locale();
        double value;
        char *end;

        if (!locale)
                return -ENOMEM;
        text = skip_blanks(text);
        if (!strchr("+-.0123456789", *text) || !*text || strpbrk(text, "xX")) /* nan, inf, 0x10 */
                return -EINVAL;
        errno = 0;
        value = strtod_l(text, &end, locale);
        if (end == text || *skip_blanks(end))
                return -EINVAL;
        if (!isfinite(value))
                return -ERANGE;
        *ret = value;
        return 0;
}

char *util_print_double(double value, char *buf, size_t size)
{
        locale_t before = util_enter_c_locale();
        double again;

        for (int digits = 15; digits <= 17; digits++) {
                snprintf(buf, size, "%.*g", digits, value);
                if (digits == 17 || (util_parse_double(buf, &again) == 0 && again == value))
                        break;
        }
        util_leave_c_locale(before);
        return buf;
}

void util_hold_standard_fds(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                if (fcntl(fd, F_GETFD) < 0 &&
                    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
                        return; /* without /dev/null they cannot be held */
}

static void on_shorter_file(int number)
{
        static const char words[] = "joulecast: a file that was being read became shorter, or its disk failed; "
                                    "run it again\n";

        (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
        _exit(number == SIGBUS ? 1 : 128 + number);
}

void util_end_on_shorter_files(void)
{
        struct sigaction action = { .sa_handler = on_shorter_file };

        sigaction(SIGBUS, &action, NULL);
}

/* Length of the valid UTF-8 sequence at @text (RFC 3629: shortest form, no surrogates), or 0. */
static size_t utf8_length(const unsigned char *text)
{
        size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                        : (text[0] & 0xf0) == 0xe0 ? 3 : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4 : 0;

        for (size_t i = 1; i < length; i++)
                if ((text[i] & 0xc0) != 0x80)
                        return 0;
        if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
            (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
                return 0;
        return length;
}

/* C0, DEL, C1, and the marks that reorder or hide text on a terminal. */
static bool is_control(const unsigned char *text, size_t length)
{
        if (length == 1)
                return text[0] < 0x20 || text[0] == 0x7f;
        if (length == 2)
                return text[0] == 0xc2 && text[1] < 0xa0;
        if (length == 3 && text[0] == 0xe2) /* U+200B..200F, U+2028..202E, U+2060..206F */
                return (text[1] == 0x80 && ((text[2] >= 0x8b && text[2] <= 0x8f) ||
                                            (text[2] >= 0xa8 && text[2] <= 0xae))) ||
                       (text[1] == 0x81 && text[2] >= 0xa0 && text[2] <= 0xaf);
        return length == 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf;
}

char *util_printable(const char *text, char *buf, size_t size)
{
        const unsigned char *in = (const unsigned char *)text;
        size_t out = 0;

        while (*in && out + 1 < size) {
                size_t length = utf8_length(in);

                if (!length || is_control(in, length)) {
                        buf[out++] = '?';
                        in += length ? length : 1;
                        continue;
                }
                if (out + length >= size)
                        break;
                memcpy(buf + out, in, length);
                out += length;
                in += length;
        }
        buf[out] = '\0';
        return buf;
}
