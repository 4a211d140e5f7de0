# The half of the Python module's suite that compiles programs: apart from python.sh, so that both stay within their
# time.
MASU_SUITE=test_programs.py
. tests/cli/python.sh
