"""Plans of contractions in loops that a scheme says: the user's, or that of the model of data movement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.product.matching import contraction_of
from polymat.tilesize.schemeplanner import is_modelled, plan_model, plan_scheme


class SchemePlanner:
    """Finds the plans of one pipeline's stages that `Options.scheme` or `Options.blocks` gives loops.

    assumed: a size for every extent.  threads: that compute a stage.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        machine: Machine,
        assumed: Mapping[str, int],
        options: Options,
        threads: int,
    ) -> None:
        self.pipeline, self.machine, self.assumed = pipeline, machine, assumed
        self.options, self.threads = options, threads
        self.texts = options.schemes
        self._modelled: dict[str, SchemePlan] = {}

    def named(self, stages: Sequence[str]) -> str | None:
        """The first of some stages that has loops of its own."""
        return next((name for name in stages if self._is_given(name) or self._is_modelled(name)), None)

    def plan(self, name: str, usual: Callable[[Stage], KernelPlan | None]) -> SchemePlan | KernelPlan:
        """The plan of such a stage; usual: that around register blocks, which a scheme may say as well."""
        stage, context = self.pipeline.stage(name), self.pipeline.context
        if name in self.texts:
            given = self.texts[name]
            return plan_scheme(stage, given, context, self.machine, self.assumed, usual(stage))
        if name not in self._modelled:
            self._modelled[name] = plan_model(
                stage, self.pipeline.extents, context, self.machine, self.assumed, self.threads
            )
        return self._modelled[name]

    def _is_given(self, name: str) -> bool:
        if name not in self.texts:
            return False
        return contraction_of(self.pipeline.stage(name), self.pipeline.context, self.assumed) is not None

    def _is_modelled(self, name: str) -> bool:
        if self.options.blocks != "model" or not self.options.kernels or self.options.blas == "always":
            return False
        return is_modelled(self.pipeline.stage(name), self.pipeline.context, self.assumed)
